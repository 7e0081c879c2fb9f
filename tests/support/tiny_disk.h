// A file system of its own for a test, of a size that is soon used up. Needs root.
#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>
#include <utility>

namespace flor::test {

class TinyDisk {
 public:
  explicit TinyDisk(std::filesystem::path path, const std::string& size = "64k", const char* type = "tmpfs")
      : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("none", path_.c_str(), type, 0, ("size=" + size + ",mode=0755").c_str()) == 0;
  }
  ~TinyDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  bool mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool mounted_ = false;
};

}  // namespace flor::test
