// Where `flor serve` of this user shows a store on this machine, so that other commands can name its pages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/store/store.h"

namespace flor::commands {

// Notes the address of a server for as long as it lives. Never throws: without the note, other commands name
// no page. The note holds no token.
class ServedNote {
 public:
  // `address`: "http://127.0.0.1:7070".
  ServedNote(const core::Store& store, const std::string& address);
  ~ServedNote();
  ServedNote(const ServedNote&) = delete;
  ServedNote& operator=(const ServedNote&) = delete;

 private:
  std::filesystem::path file_;
};

// Returns the address that the newest living server of this store noted; std::nullopt: none is known.
std::optional<std::string> served_address(const core::Store& store);

}  // namespace flor::commands
