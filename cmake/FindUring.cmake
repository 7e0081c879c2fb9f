# Optional: without it, or on a kernel that allows no io_uring, threads keep several writes in flight.
find_path(URING_INCLUDE_DIR liburing.h)
find_library(URING_LIBRARY uring)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Uring REQUIRED_VARS URING_LIBRARY URING_INCLUDE_DIR)
if(Uring_FOUND AND NOT TARGET uring::uring)
  add_library(uring::uring UNKNOWN IMPORTED)
  set_target_properties(uring::uring PROPERTIES IMPORTED_LOCATION ${URING_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${URING_INCLUDE_DIR})
endif()
