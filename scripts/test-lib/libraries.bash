# Debian 12 links LibTorch with libraries for pictures and video that it uses nothing of: with what these need, each process
# loads 214 libraries for that, which is a third of what the start of a training program costs. Sourced by scripts/test.
# shellcheck shell=bash

# installed_library NAME: the path of the library whose name begins so.
installed_library() { ldconfig -p | awk -v name="$1" 'index($1, name) == 1 && !found { found = $NF } END { print found }'; }

# leave_out_video FOLDER: has the programs that the tests start find empty libraries there in place of these. Does nothing
# where LibTorch is linked with none, or uses something of one.
leave_out_video() {
  local folder=$1 torch library real used
  torch=$(installed_library libtorch_cpu.so)
  [[ -n $torch ]] || return 0
  mkdir -p "$folder"
  used=$(nm -D --undefined-only "$torch" | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u)
  for library in $(objdump -p "$torch" | awk '$1 == "NEEDED" && $2 ~ /^lib(opencv_|av|sw)/ { print $2 }'); do
    real=$(installed_library "$library")
    [[ -n $real && -z $(comm -12 <(nm -D --defined-only "$real" | awk '{ sub("@.*", "", $NF); print $NF }' | sort -u) <(echo "$used")) ]] || continue
    cc -shared -nostdlib -x c /dev/null -Wl,-soname,"$library" -o "$folder/$library"
  done
  export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
