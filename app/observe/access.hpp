#pragma once

#include <optional>
#include <string>

#include "app/observe/http_message.hpp"

/// Who may read and steer a run over HTTP.
namespace eventloom {

/// A page of another site may make a browser ask here under a name of its own (DNS rebinding): only the address that
/// the client has reached, localhost and the name of this host are answered. Nothing: it is well; else why not.
std::optional<HttpReply> refuse_host(const HttpRequest& request);

/// Of a request that changes something: from another site, or without the token ("Authorization: Bearer TOKEN").
std::optional<HttpReply> refuse_change(const HttpRequest& request, const std::string& token);

/// {"error": what}
HttpReply refusal(unsigned status, const std::string& what);

}  // namespace eventloom
