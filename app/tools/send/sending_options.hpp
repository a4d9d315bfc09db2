#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "app/tools/send/live_sender.hpp"

/// Options shared by the commands that send streams over UDP.
namespace eventloom {

/// `to`, `flush-after`, `datagram`, `session`.
void add_sending_options(boost::program_options::options_description& options);

/// Their values, for `streams` streams. Throws UserError.
LiveSenderSettings sending_options(const boost::program_options::variables_map& values, std::size_t streams);

/// The ports that --to names as boards, trb://HOST:PORT[,PORT...], as HOST:PORT each; empty when it names none. Throws
/// UserError when it names other destinations, too.
std::vector<std::string> trb_ports(const boost::program_options::variables_map& values);

/// ", 3 times nobody listened, 2 times the buffer was full", as far as that was so.
std::string trouble_text(const UdpSender::Count& count);

/// A line for each stream.
void print_sent(const std::vector<SentStream>& sent, std::ostream& out);

/// Whether a signal has requested a stop; reports it the first time.
bool asked_to_stop();

}  // namespace eventloom
