#include "core/sources/elf_image.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>

namespace flor::core {
namespace {

template <class T>
const T* view(const std::string& image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(image.data() + offset);
}

// The sections of a 64-bit ELF image.
class Sections {
 public:
  explicit Sections(const std::string& image) : image_(image), header_(view<Elf64_Ehdr>(image, 0)) {
    const bool is_elf = header_ != nullptr && std::memcmp(header_->e_ident, ELFMAG, SELFMAG) == 0 &&
                        header_->e_ident[EI_CLASS] == ELFCLASS64;
    if (!is_elf) header_ = nullptr;
  }

  std::uint64_t count() const { return header_ == nullptr ? 0 : header_->e_shnum; }
  const Elf64_Shdr* at(std::uint64_t index) const {
    return index < count() ? view<Elf64_Shdr>(image_, header_->e_shoff + index * sizeof(Elf64_Shdr))
                           : nullptr;
  }
  bool is_named(const Elf64_Shdr& section, const std::string& name) const {
    const auto* names = at(header_->e_shstrndx);
    if (names == nullptr) return false;
    const std::uint64_t begin = names->sh_offset + section.sh_name;
    return begin < image_.size() &&
           image_.compare(begin, name.size() + 1, name.c_str(), name.size() + 1) == 0;
  }
  std::string bytes(const Elf64_Shdr& section) const {
    if (section.sh_offset > image_.size() || image_.size() - section.sh_offset < section.sh_size) return "";
    return image_.substr(section.sh_offset, section.sh_size);
  }

 private:
  const std::string& image_;
  const Elf64_Ehdr* header_;
};

}  // namespace

std::string elf_section(const std::string& image, const std::string& name) {
  const Sections sections(image);
  for (std::uint64_t i = 0; i < sections.count(); ++i) {
    const auto* section = sections.at(i);
    if (section == nullptr) return "";
    if (sections.is_named(*section, name)) return sections.bytes(*section);
  }
  return "";
}

std::vector<std::string> elf_source_files(const std::string& image) {
  const Sections sections(image);
  std::set<std::string> out;
  for (std::uint64_t i = 0; i < sections.count(); ++i) {
    const auto* table = sections.at(i);
    if (table == nullptr || table->sh_type != SHT_SYMTAB) continue;
    const auto* names = sections.at(table->sh_link);
    if (names == nullptr) continue;
    const std::string symbols = sections.bytes(*table);
    const std::string text = sections.bytes(*names);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE && symbol.st_name < text.size())
        out.insert(text.c_str() + symbol.st_name);
    }
  }
  out.erase("");
  return {out.begin(), out.end()};
}

}  // namespace flor::core
