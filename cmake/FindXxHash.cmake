# The header alone: XXH_INLINE_ALL compiles the hash into the one file that uses it.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxHash REQUIRED_VARS XXHASH_INCLUDE_DIR)
if(XxHash_FOUND AND NOT TARGET xxhash::headers)
  add_library(xxhash::headers INTERFACE IMPORTED)
  set_target_properties(xxhash::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE_DIR})
endif()
