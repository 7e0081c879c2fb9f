// What of a Slurm cluster is free now: one call of `sinfo`, never one per unit.
// Motivation: libslurm's soname and the tools' JSON schema change with every series; these columns do not.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace flor::dispatch {

struct Node {
  std::string name;
  bool usable = false;  // takes new jobs: idle or mixed, responding, not draining
  std::size_t idle_cpus = 0;
  std::map<std::string, std::size_t> gpus;       // type ("" for none) → configured
  std::map<std::string, std::size_t> gpus_used;  // type → allocated
  std::size_t free_gpus() const;
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  // The nodes of a partition ("": of the default one), each once. Throws core::Error when Slurm does not
  // answer.
  virtual std::vector<Node> nodes(const std::string& partition) = 0;

 protected:
  Cluster() = default;
  Cluster(const Cluster&) = default;
  Cluster& operator=(const Cluster&) = default;
};

class SinfoCluster : public Cluster {
 public:
  std::vector<Node> nodes(const std::string& partition) override;
};

// Reads `sinfo --noheader --Node -O Partition,NodeList,StateLong,CPUsState,Gres,GresUsed`. With
// `default_only` the nodes of other partitions than the default one (marked with *) are left out, if there is
// one. Pure.
std::vector<Node> parse_sinfo(const std::string& text, bool default_only = false);

// How many workers of so many CPUs fit now, each with a GPU where `gpu`. Pure.
std::size_t free_places(const std::vector<Node>& nodes, bool gpu, std::size_t cpus);

// The --gres of a worker: a GPU where the record computed on one (`recorded`, its model; of the type that the
// model names, if the cluster tells types apart) or where the cluster has any; else "". Pure.
std::string gres_for(const std::vector<Node>& nodes, const std::string& recorded);

// Does any node have a GPU?
bool has_gpus(const std::vector<Node>& nodes);

}  // namespace flor::dispatch
