#include "core/mpi/loaded_ucx.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace eventloom {

namespace {

struct Search {
  std::string_view name;
  std::string path;
};

/// Python packages call a library libucp-1a2b.so.0, plugins are called libuct_ib.so.0.
int compare(dl_phdr_info* library, std::size_t /*bytes*/, void* of) {
  auto& search = *static_cast<Search*>(of);
  const std::string_view path = library->dlpi_name;
  const auto file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with(search.name) || file.find_first_of(".-") != search.name.size()) return 0;
  search.path = path;
  return 1;
}

/// Returns a function of a loaded library; nullptr if there is none.
template <class Function>
Function* loaded_function(std::string_view library, const char* name) {
  Search search{library, ""};
  if (dl_iterate_phdr(compare, &search) == 0) return nullptr;
  void* const handle = dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  auto* const function = reinterpret_cast<Function*>(dlsym(handle, name));
  dlclose(handle);  // MPI keeps it
  return function;
}

// See uct/api/uct.h. UCX fills only the fields asked for.

using Component = void*;

struct ComponentAttributes {
  std::uint64_t fields = 0b11;  ///< the name and the number of devices
  std::array<char, 16> name = {};
  unsigned devices = 0;
  std::array<std::uint64_t, 32> others = {};
};

using QueryComponents = int(Component**, unsigned*);
using QueryComponent = int(Component, ComponentAttributes*);
using ReleaseComponents = void(Component*);

}  // namespace

UcxVersion loaded_ucx_version() {
  UcxVersion version;
  unsigned release = 0;
  auto* const ask = loaded_function<void(unsigned*, unsigned*, unsigned*)>("libucp", "ucp_get_version");
  if (ask != nullptr) ask(&version.major, &version.minor, &release);
  return version;
}

std::string loaded_ucx_version_text() {
  auto* const ask = loaded_function<const char*()>("libucp", "ucp_get_version_string");
  return ask == nullptr ? "" : ask();
}

std::set<std::string> loaded_ucx_transports() {
  std::set<std::string> names;
  auto* const query_all = loaded_function<QueryComponents>("libuct", "uct_query_components");
  auto* const query = loaded_function<QueryComponent>("libuct", "uct_component_query");
  auto* const release = loaded_function<ReleaseComponents>("libuct", "uct_release_component_list");
  Component* components = nullptr;
  unsigned n = 0;
  if (query_all == nullptr || query == nullptr || release == nullptr || query_all(&components, &n) != 0) return names;
  for (unsigned c = 0; c < n; ++c) {
    ComponentAttributes attributes;
    if (query(components[c], &attributes) == 0 && attributes.devices > 0) names.insert(attributes.name.data());
  }
  release(components);
  return names;
}

}  // namespace eventloom
