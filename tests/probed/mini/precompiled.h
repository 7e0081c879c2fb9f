// What every program of these tests includes, but flor/flor.h: that leaves each program's own name in it.
#include <frontend.h>
#include <nn.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
