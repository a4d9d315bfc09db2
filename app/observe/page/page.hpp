#pragma once

#include <string>

#include "core/runtime/json.hpp"

/// A self-contained HTML page, with style and scripts, that shows the status document of a current or completed run. It
/// needs no network, except that the monitor's page polls its server.
namespace eventloom {

/// First bytes of every page. They distinguish a report from a file that Eventloom did not write.
extern const char* const kPageBegin;

/// Content policy of every page, which it also states itself: only its own style and scripts, known by their SHA-256,
/// and requests to its own server.
extern const char* const kPagePolicy;

/// Returns the page of the monitor. It requests `status` (relative to its own URL) once a second, and sends
/// commands to `control`.
std::string page_for_monitor();

/// Returns a page that contains its status document. Replaces text that is not UTF-8. No text of the document can end
/// the script that contains it.
std::string page_with(const Json& status);

}  // namespace eventloom
