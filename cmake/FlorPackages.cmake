# Debian packages of what `cmake --install` installs: `cmake --build build --target package`, into build/packages.
#
#   flor          the commands, their manual pages and completions
#   libflor0      the library that a training program loads
#   libflor-dev   what compiling such a program needs
#   flor-slurm    Slurm's plugin, the line that loads it, and the agent as a service
#
# Each install() names its package by COMPONENT. What is marked EXCLUDE_FROM_ALL is in the package alone, and the
# component `plain` is in none: it holds what lies elsewhere on Debian.
set(FLOR_PACKAGE_CONTACT "Flor maintainers <maintainers@flor.invalid>" CACHE STRING "Maintainer of the packages")

# Packages of one version for Debian 12 and 13 differ, and the older one must look older: 0.2.0-1~debian12.
set(FLOR_DEBIAN_RELEASE 1)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release system REGEX "^(ID|VERSION_ID)=")
  string(REGEX MATCH "VERSION_ID=\"?([0-9.]+)" found "${system}")
  set(system_version ${CMAKE_MATCH_1})
  string(REGEX MATCH "(^|;)ID=\"?([a-z]+)" found "${system}")
  set(FLOR_DEBIAN_RELEASE 1~${CMAKE_MATCH_2}${system_version})
endif()
set(FLOR_DEBIAN_VERSION ${PROJECT_VERSION}-${FLOR_DEBIAN_RELEASE})

# The first release of Slurm that a plugin loads into, and the first that it does not: of "0x160508", which is 22.05.8,
# 22.05 and 22.06.
function(flor_slurm_releases first end)
  file(STRINGS ${SLURM_INCLUDE_DIR}/slurm/slurm_version.h line REGEX "define SLURM_VERSION_NUMBER 0x")
  string(REGEX MATCH "0x[0-9a-fA-F]+" number "${line}")
  math(EXPR major "${number} >> 16")
  foreach(bound first end)
    math(EXPR month "(${number} >> 8) & 255")
    if(bound STREQUAL end)
      math(EXPR month "${month} + 1")
    endif()
    string(REGEX REPLACE "^(.)$" "0\\1" month ${month})
    set(${${bound}} ${major}.${month} PARENT_SCOPE)
  endforeach()
endfunction()

# What Debian's policy asks of each package.
function(flor_package_papers name)
  set(papers ${CMAKE_BINARY_DIR}/debian/${name})
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file(${CMAKE_SOURCE_DIR}/packaging/debian/changelog.in ${papers}/changelog.Debian @ONLY)
  execute_process(COMMAND gzip -9nf ${papers}/changelog.Debian)
  install(FILES ${CMAKE_SOURCE_DIR}/packaging/debian/copyright ${papers}/changelog.Debian.gz
          DESTINATION share/doc/${name} COMPONENT ${name} EXCLUDE_FROM_ALL)
  if(EXISTS ${CMAKE_SOURCE_DIR}/packaging/debian/${name}.lintian-overrides)
    install(FILES ${CMAKE_SOURCE_DIR}/packaging/debian/${name}.lintian-overrides
            DESTINATION share/lintian/overrides RENAME ${name} COMPONENT ${name} EXCLUDE_FROM_ALL)
  endif()
endfunction()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME flor)
set(CPACK_PACKAGE_CONTACT ${FLOR_PACKAGE_CONTACT})
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
# With DESTDIR the paths in configured files are those of the installed system, and files can go to /etc.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${FLOR_DEBIAN_RELEASE})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_COMPONENTS_ALL flor)
set(CPACK_DEBIAN_FLOR_PACKAGE_NAME flor)
set(CPACK_DEBIAN_FLOR_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FLOR_PACKAGE_RECOMMENDS "redis-server")
set(CPACK_DEBIAN_FLOR_PACKAGE_SUGGESTS "flor-slurm, slurm-client")
set(CPACK_DEBIAN_FLOR_DESCRIPTION
"Record training runs, replay them with new log statements
Flor records a LibTorch training program at a small cost. Later the program,
with log statements added in hindsight, is run again from the checkpoints of
the recorded run, in parallel, as a job of Slurm or on one machine.

This package has the commands flor and flor-agent.")
flor_package_papers(flor)

if(FLOR_TORCH)
  list(APPEND CPACK_COMPONENTS_ALL libflor0 libflor-dev)
  set(CPACK_DEBIAN_LIBFLOR0_PACKAGE_NAME libflor0)
  set(CPACK_DEBIAN_LIBFLOR0_PACKAGE_SECTION libs)
  # CPack would make shlibs for the plugin as well, which is no library.
  file(WRITE ${CMAKE_BINARY_DIR}/debian/shlibs "libflor 0 libflor0 (>= ${PROJECT_VERSION})\n")
  set(CPACK_DEBIAN_LIBFLOR0_PACKAGE_CONTROL_EXTRA
      ${CMAKE_BINARY_DIR}/debian/shlibs ${CMAKE_SOURCE_DIR}/packaging/debian/triggers)
  # Without libopenblas0-pthread LibTorch falls back to the reference BLAS, 18 times slower.
  set(CPACK_DEBIAN_LIBFLOR0_PACKAGE_RECOMMENDS "flor (= ${FLOR_DEBIAN_VERSION}), libopenblas0-pthread")
  set(CPACK_DEBIAN_LIBFLOR0_DESCRIPTION
"Library that records and replays training programs
A LibTorch training program that links libflor is recorded by flor record, or
by srun --flor-record, and run again by flor replay.

This package has the shared library.")
  flor_package_papers(libflor0)

  set(CPACK_DEBIAN_LIBFLOR-DEV_PACKAGE_NAME libflor-dev)
  set(CPACK_DEBIAN_LIBFLOR-DEV_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_LIBFLOR-DEV_PACKAGE_DEPENDS "libflor0 (= ${FLOR_DEBIAN_VERSION}), libtorch-dev")
  set(CPACK_DEBIAN_LIBFLOR-DEV_DESCRIPTION
"Library that records and replays training programs (development)
A LibTorch training program that links libflor is recorded by flor record, or
by srun --flor-record, and run again by flor replay.

This package has the headers and what find_package(Flor) of CMake reads.")
  flor_package_papers(libflor-dev)
endif()

if(FLOR_SPANK)
  list(APPEND CPACK_COMPONENTS_ALL flor-slurm)
  flor_slurm_releases(first end)
  set(CPACK_DEBIAN_FLOR-SLURM_PACKAGE_NAME flor-slurm)
  set(CPACK_DEBIAN_FLOR-SLURM_PACKAGE_SECTION admin)
  # What slurmd and slurm-client both depend on: the plugin is for both.
  set(CPACK_DEBIAN_FLOR-SLURM_PACKAGE_DEPENDS "flor (= ${FLOR_DEBIAN_VERSION}), \
slurm-wlm-basic-plugins (>= ${first}), slurm-wlm-basic-plugins (<< ${end}~)")
  set(CPACK_DEBIAN_FLOR-SLURM_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/conffiles)
  set(CPACK_DEBIAN_FLOR-SLURM_DESCRIPTION
"Record training runs, replay them: plugin of Slurm ${first}
The plugin adds --flor-record and other flags to srun, sbatch and salloc. It
belongs on every node of a cluster from which jobs are submitted or on which
they run.

This package has the plugin, a line in /etc/slurm/plugstack.conf.d that loads
it, and flor-agent as a service of systemd, which is not enabled.")
  flor_package_papers(flor-slurm)
endif()

include(CPack)
