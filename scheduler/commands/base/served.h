// Tells other commands at which address `flor serve` of this user shows a store on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/store/store.h"

namespace flor::commands {

// Keeps the address of a server in a file until it is destroyed. Never throws: without the note, other
// commands name no page. The note holds no token.
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

// Returns the address in the note of this store, which the server wrote that began last. std::nullopt: there
// is none, or its process is gone.
std::optional<std::string> served_address(const core::Store& store);

}  // namespace flor::commands
