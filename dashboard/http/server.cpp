#include "dashboard/http/server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace flor::dashboard {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// Bytes of a request's first line and headers. Cookies of other servers on this machine may come along.
constexpr std::uint32_t longest_request = 16384;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// Scripts, styles and data from this server alone, and no page around it.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

template <class Message>
void set_headers(Message& message) {
  message.set("Content-Security-Policy", policy);
  message.set("X-Content-Type-Options", "nosniff");
  message.set("Referrer-Policy", "no-referrer");
  message.set(http::field::cache_control, "no-store");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
}

std::string text(boost::beast::string_view view) {
  return {view.data(), view.size()};
}

}  // namespace

struct Server::Loop {
  asio::io_context context{1};
};

// Everything but handlers runs on the thread of run().
class Server::Work : public std::enable_shared_from_this<Server::Work> {
 public:
  class Connection;

  Work(asio::io_context& context, ServerOptions options, Handler handler, Feed& feed)
      : options_(std::move(options)), handler_(std::move(handler)), feed_(feed), context_(context) {
    const tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
    acceptor_->open(endpoint.protocol());
    acceptor_->set_option(asio::socket_base::reuse_address(true));
    acceptor_->bind(endpoint);
    acceptor_->listen();
  }

  // Call when run() has returned. Nothing of the loop is used afterwards.
  void leave_loop() {
    handlers_.stop();  // those that wait are left out
    handlers_.join();
    acceptor_.reset();
    streams_.clear();
  }

  void accept();
  void join(const std::shared_ptr<Connection>& connection) { streams_.insert(connection); }
  void leave(const std::shared_ptr<Connection>& connection) { streams_.erase(connection); }
  void tell_streams();

  const ServerOptions options_;
  const Handler handler_;
  Feed& feed_;
  asio::io_context& context_;
  asio::thread_pool handlers_{2};
  std::optional<tcp::acceptor> acceptor_{context_};
  std::size_t connections_ = 0;

 private:
  // Those with an event stream.
  std::set<std::shared_ptr<Connection>> streams_;
};

class Server::Work::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<Work> work)
      : work_(std::move(work)), stream_(std::move(socket)), ping_(work_->context_) {
    work_->connections_ += 1;
  }
  ~Connection() { work_->connections_ -= 1; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read();
  // Sends what the viewer of an event stream lacks.
  void tell();

 private:
  void answer();
  void send(Response response);
  void begin_stream();
  void watch_for_end();
  void arm_ping();
  void write_events(std::string text);
  void end();
  std::chrono::milliseconds patience() const { return milliseconds(work_->options_.patience); }

  const std::shared_ptr<Work> work_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{longest_request};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  bool keeps_alive_ = false;
  // Of the event stream.
  asio::steady_timer ping_;
  std::optional<http::response<http::empty_body>> head_;
  std::optional<http::response_serializer<http::empty_body>> serializer_;
  std::string last_id_, writing_;
  char byte_ = 0;
};

void Server::Work::accept() {
  acceptor_->async_accept([self = shared_from_this()](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error && self->connections_ < self->options_.most_connections)
      std::make_shared<Connection>(std::move(socket), self)->read();
    // Where no descriptor is left, the next one comes when a connection ends.
    if (error) {
      auto pause = std::make_shared<asio::steady_timer>(self->context_, std::chrono::milliseconds(100));
      pause->async_wait([self, pause](error_code) { self->accept(); });
      return;
    }
    self->accept();
  });
}

void Server::Work::tell_streams() {
  const auto streams = streams_;  // one that fails leaves
  for (const auto& connection : streams) connection->tell();
}

void Server::Work::Connection::read() {
  parser_.emplace();
  parser_->header_limit(longest_request);
  parser_->body_limit(0);
  stream_.expires_after(patience());
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
    if (!error) {
      self->answer();
    } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      self->keeps_alive_ = false;
      self->send({431, "text/plain; charset=utf-8", "the request is too long\n"});
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream) {
      self->keeps_alive_ = false;
      self->send({400, "text/plain; charset=utf-8", "this is no request that this server reads\n"});
    }
  });
}

void Server::Work::Connection::answer() {
  const auto& message = parser_->get();
  keeps_alive_ = message.keep_alive();
  Request request;
  request.method = text(message.method_string());
  request.host = text(message[http::field::host]);
  request.origin = text(message[http::field::origin]);
  request.authorization = text(message[http::field::authorization]);
  request.last_event_id = text(message["Last-Event-ID"]);
  auto target = target_from({message.target().data(), message.target().size()});
  if (!target) {
    send({400, "text/plain; charset=utf-8", "this is no address of this server\n"});
    return;
  }
  request.target = std::move(*target);
  if (auto refused = refusal(work_->options_.guard, request)) {
    keeps_alive_ = false;  // who is refused keeps no connection
    send(std::move(*refused));
    return;
  }
  // Handlers read the store, which may be slow. The time of a client does not run meanwhile.
  stream_.expires_never();
  // The connection moves along, so that it ends on the thread of run() alone.
  asio::post(work_->handlers_, [self = shared_from_this(), request = std::move(request)]() mutable {
    Response response;
    try {
      response = self->work_->handler_(request);
    } catch (const std::exception& problem) {
      response = {500, "text/plain; charset=utf-8", std::string(problem.what()) + "\n"};
    }
    if (response.is_stream) self->last_id_ = request.last_event_id;
    auto& context = self->work_->context_;
    asio::post(context, [self = std::move(self), response = std::move(response)]() mutable {
      response.is_stream ? self->begin_stream() : self->send(std::move(response));
    });
  });
}

void Server::Work::Connection::send(Response response) {
  response_.emplace();
  response_->result(static_cast<unsigned>(response.status));
  response_->set(http::field::content_type, response.type);
  set_headers(*response_);
  for (const auto& [name, value] : response.headers) response_->set(name, value);
  response_->keep_alive(keeps_alive_);
  response_->body() = std::move(response.body);
  response_->prepare_payload();
  stream_.expires_after(patience());
  http::async_write(stream_, *response_, [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return;
    self->keeps_alive_ ? self->read() : self->end();
  });
}

void Server::Work::Connection::begin_stream() {
  head_.emplace(http::status::ok, 11);
  head_->set(http::field::content_type, "text/event-stream");
  set_headers(*head_);
  head_->keep_alive(false);
  serializer_.emplace(*head_);
  stream_.expires_after(patience());
  http::async_write_header(stream_, *serializer_, [self = shared_from_this()](error_code error, std::size_t) {
    if (error) return;
    self->work_->join(self);
    self->watch_for_end();
    self->arm_ping();
    self->tell();
  });
}

// A viewer sends nothing more; that its connection ends shows in a read.
void Server::Work::Connection::watch_for_end() {
  stream_.socket().async_read_some(asio::buffer(&byte_, 1),
                                   [self = shared_from_this()](error_code error, std::size_t) {
                                     error ? self->end() : self->watch_for_end();
                                   });
}

void Server::Work::Connection::arm_ping() {
  ping_.expires_after(milliseconds(work_->options_.ping));
  ping_.async_wait([self = shared_from_this()](error_code error) {
    if (error) return;
    if (self->writing_.empty()) self->write_events(": still here\n\n");
    self->arm_ping();
  });
}

void Server::Work::Connection::tell() {
  if (!writing_.empty()) return;  // comes back when it is written
  Feed::Events events = work_->feed_.since(last_id_);
  last_id_ = std::move(events.last_id);
  if (!events.text.empty()) write_events(std::move(events.text));
}

void Server::Work::Connection::write_events(std::string text) {
  writing_ = std::move(text);
  stream_.expires_after(patience());
  asio::async_write(stream_, asio::buffer(writing_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->writing_.clear();
                      if (error) {
                        self->end();
                        return;
                      }
                      self->stream_.expires_never();
                      self->tell();
                    });
}

void Server::Work::Connection::end() {
  ping_.cancel();
  work_->leave(shared_from_this());
  error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  stream_.socket().close(ignored);
}

Server::Server(ServerOptions options, Handler handler, Feed& feed) : loop_(std::make_unique<Loop>()) {
  const std::string where = options.address + ":" + std::to_string(options.port);
  try {
    work_ = std::make_shared<Work>(loop_->context, std::move(options), std::move(handler), feed);
  } catch (const boost::system::system_error& problem) {
    const bool is_taken = problem.code() == asio::error::address_in_use;
    throw core::Error("cannot listen on " + where + ": " + problem.code().message() +
                      (is_taken ? "; --listen ADDRESS:0 takes any free port"
                                : "; --listen takes a number, as 127.0.0.1:7070 or [::1]:7070"));
  }
  feed.on_change([work = std::weak_ptr<Work>(work_)] {
    if (const auto here = work.lock()) asio::post(here->context_, [here] { here->tell_streams(); });
  });
  work_->accept();
}

Server::~Server() {
  stop();
  work_->leave_loop();
}

std::uint16_t Server::port() const {
  return work_->acceptor_->local_endpoint().port();
}

void Server::run() {
  work_->context_.run();
}

void Server::stop() {
  work_->context_.stop();
}

}  // namespace flor::dashboard
