#pragma once

#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

enum class MbsService {
  transport,  ///< the server sends its data to all clients
  stream,     ///< the client requests each reply
};

/// Address of an MBS server: mbs://HOST[:PORT]/transport or /stream. The default ports are 6000 and 6002; IPv6
/// addresses are in brackets.
struct MbsAddress {
  std::string host;
  std::string port;
  MbsService service = MbsService::transport;
  std::string text;  ///< the URI without its keys, for messages

  /// Throws UserError when `uri` is not of this form.
  static MbsAddress of(const SourceUri& uri);
};

}  // namespace eventloom
