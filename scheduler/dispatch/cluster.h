// Tells the launcher of Slurm jobs (dispatch/slurm.h) which nodes of a cluster are free, from one call of
// `sinfo`.
// Motivation: libslurm's soname and the JSON of the tools change with every series; these columns do not.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace flor::dispatch {

struct Node {
  std::string name;
  bool usable = false;  // takes new jobs: it is idle or mixed, responds, and is not draining
  std::size_t idle_cpus = 0;
  std::map<std::string, std::size_t> gpus;       // type ("" for none) → configured
  std::map<std::string, std::size_t> gpus_used;  // type → allocated
  std::size_t free_gpus() const;
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  // Returns the nodes of a partition ("": the default one), each once. Throws core::Error if Slurm does not
  // answer.
  virtual std::vector<Node> nodes(const std::string& partition) = 0;

 protected:
  Cluster() = default;
  Cluster(const Cluster&) = default;
  Cluster& operator=(const Cluster&) = default;
};

// Runs `sinfo`, for at most 10 s.
class SinfoCluster : public Cluster {
 public:
  std::vector<Node> nodes(const std::string& partition) override;
};

// Parses the output of `sinfo --noheader --Node -O Partition,NodeList,StateLong,CPUsState,Gres,GresUsed`.
// With `default_only`, keeps only the nodes of the default partition (marked with *), if there is one. Pure.
std::vector<Node> parse_sinfo(const std::string& text, bool default_only = false);

// Returns for how many workers the usable nodes have room now, each with `cpus` CPUs, and with a GPU if
// `gpu`. Returns 0 if none fits. Pure.
std::size_t free_places(const std::vector<Node>& nodes, bool gpu, std::size_t cpus);

// Returns the --gres of a worker. `recorded` is the model of the GPU that the recording used; "" for none.
// With one, asks for a GPU, of the type whose name is part of the model if the cluster has such a type.
// Without one, asks for a GPU if any node has one; else returns "". Pure.
std::string gres_for(const std::vector<Node>& nodes, const std::string& recorded);

// Returns true if any node has a GPU.
bool has_gpus(const std::vector<Node>& nodes);

}  // namespace flor::dispatch
