#include "app/page/page.hpp"

namespace eventloom {

std::string page_for_monitor() { return "<!doctype html><title>Eventloom</title><a href=\"status\">status</a>\n"; }

}  // namespace eventloom
