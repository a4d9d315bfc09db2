#include "io/recorded/lost_source.hpp"

namespace eventloom {

LostSource::LostSource(StreamHeader header, std::string name, InputFile input)
    : header_(std::move(header)), name_(std::move(name)), input_(std::move(input)) {
  all_.n_epochs = std::numeric_limits<Epoch>::max();
}

}  // namespace eventloom
