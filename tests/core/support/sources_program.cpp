// A program that was compiled as `c++ train.cpp` in a directory that is nowhere recorded.
namespace {
__attribute__((used, section("flor_sources"))) const char translation_unit[] = "train.cpp";
}

int main() {}
