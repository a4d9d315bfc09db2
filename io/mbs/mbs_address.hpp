#pragma once

#include <string>

#include "io/uri/source_uri.hpp"

namespace eventloom {

enum class MbsService {
  transport,  ///< the server sends what it has to all its clients
  stream,     ///< the client asks for each reply
};

/// Where an MBS server is: mbs://HOST[:PORT]/transport or /stream, ports 6000 and 6002 unless told; addresses of
/// IPv6 in brackets.
struct MbsAddress {
  std::string host;
  std::string port;
  MbsService service = MbsService::transport;
  std::string text;  ///< for people: the URI without its keys

  /// Throws UserError when `uri` is not of this form.
  static MbsAddress of(const SourceUri& uri);
};

}  // namespace eventloom
