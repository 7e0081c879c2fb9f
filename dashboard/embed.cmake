# Writes a C++ file with the files of the page in it: cmake -DPAGE=FOLDER -DOUT=FILE -P embed.cmake
file(GLOB_RECURSE files RELATIVE ${PAGE} ${PAGE}/*.html ${PAGE}/*.js ${PAGE}/*.css ${PAGE}/*.svg)
list(SORT files)
set(arrays "")
set(entries "")
set(number 0)
foreach(file ${files})
  file(READ ${PAGE}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char file_${number}[] = {${bytes}0};\n")
  if(file MATCHES "\\.html$")
    set(type "text/html; charset=utf-8")
  elseif(file MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(file MATCHES "\\.svg$")
    set(type "image/svg+xml")
  else()
    set(type "text/javascript; charset=utf-8")
  endif()
  string(APPEND entries "      {\"/page/${file}\", page(\"${type}\", file_${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "// Made by embed.cmake from dashboard/page.
#include <map>

#include \"dashboard/data/routes.h\"

namespace flor::dashboard {
namespace {

${arrays}
template <std::size_t size>
PageFile page(const char* type, const unsigned char (&bytes)[size]) {
  return {type, {reinterpret_cast<const char*>(bytes), size - 1}};
}

}  // namespace

const PageFile* page_file(std::string_view path) {
  static const std::map<std::string_view, PageFile> files{
${entries}  };
  const auto at = files.find(path);
  return at == files.end() ? nullptr : &at->second;
}

}  // namespace flor::dashboard
")
