# Debian 12 links LibTorch with libraries for pictures and video that it uses nothing of: with what these need, each process
# loads 214 libraries for that, which is a third of what the start of a training program costs. Sourced by scripts/test.
# shellcheck shell=bash

# installed_library NAME: the path of the library whose name begins so.
installed_library() { ldconfig -p | awk -v name="$1" 'index($1, name) == 1 && !found { found = $NF } END { print found }'; }

# make_empty_libraries FOLDER: empty libraries in place of these. Makes none where LibTorch is linked with none, or uses
# something of one.
make_empty_libraries() {
  local folder=$1 torch library real used
  mkdir -p "$folder"
  torch=$(installed_library libtorch_cpu.so)
  [[ -n $torch ]] || return 0
  used=$(nm -D --undefined-only "$torch" | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u)
  for library in $(objdump -p "$torch" | awk '$1 == "NEEDED" && $2 ~ /^lib(opencv_|av|sw)/ { print $2 }'); do
    real=$(installed_library "$library")
    [[ -n $real && -z $(comm -12 <(nm -D --defined-only "$real" | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u) <(echo "$used")) ]] || continue
    cc -shared -nostdlib -x c /dev/null -Wl,-soname,"$library" -o "$folder/$library"
  done
}

# without_video FOLDER COMMAND…: runs it, and has the programs that it starts find the empty libraries in FOLDER. What runs
# afterwards finds the real ones.
without_video() {
  local folder=$1
  make_empty_libraries "$folder"
  LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "${@:2}"
}
