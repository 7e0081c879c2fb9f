#include "dashboard/report.h"

#include <map>
#include <regex>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/store/generators.h"
#include "dashboard/data/routes.h"
#include "dashboard/data/runs.h"

namespace flor::dashboard {
namespace {

using core::Json;

// Bytes of charts in one report; a browser opens that in a second or two.
constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr const char* points_of_a_chart = "2000";
constexpr const char* points_of_a_spread = "200";
constexpr const char* images_of_a_name = "50";

std::string_view text_of(const std::string& path) {
  const PageFile* file = page_file(path);
  if (file == nullptr) throw core::Error("the page has no file " + path);
  return file->text;
}

std::string data_url(const std::string& type, std::string_view text) {
  return "data:" + type + ";base64," + core::base64(std::string(text));
}

// Replaces each match of `pattern` by what `made` returns for it.
template <class Made>
std::string replaced(std::string_view text, const std::regex& pattern, const Made& made) {
  std::string out;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::cmatch match; std::regex_search(at, end, match, pattern); at = match[0].second) {
    out.append(at, match[0].first);
    out += made(match);
  }
  return out.append(at, end);
}

// The modules of the page by name, as data URLs. Addresses within a data URL lead nowhere, so modules import
// each other by name; an import map says where the names lead.
class Modules {
 public:
  // `path`: "/page/app.js". Returns the module's name.
  std::string add(const std::string& path) {
    std::string name = path.substr(1);
    if (const auto [at, is_new] = urls_.emplace(name, ""); !is_new) return name;
    static const std::regex import(R"x(^(import .*from )"(\.[^"]*)";$)x", std::regex::multiline);
    const core::fs::path folder = core::fs::path(path).parent_path();
    const std::string text = replaced(text_of(path), import, [&](const std::cmatch& match) {
      return match[1].str() + '"' + add((folder / match[2].str()).lexically_normal().string()) + "\";";
    });
    urls_[name] = data_url("text/javascript", text);
    return name;
  }
  const std::map<std::string, std::string>& urls() const { return urls_; }

 private:
  std::map<std::string, std::string> urls_;
};

// JSON for a <script> element: no text in it can end the element.
std::string in_script(const Json& json) {
  return replaced(core::json_text(json), std::regex("<"), [](const std::cmatch&) { return "\\u003c"; });
}

// What the server would answer, by address.
class Answers {
 public:
  explicit Answers(const core::Store& store) : routes_(store) {}

  const Json& add(const std::string& address, Target target) {
    Request request;
    request.target = std::move(target);
    const Response response = routes_.answer(request);
    if (response.status != 200) throw core::Error(response.body);
    bytes_ += response.body.size();
    return all_[address] = core::parse_json(response.body);
  }
  std::size_t bytes() const { return bytes_; }
  const Json& all() const { return all_; }

 private:
  Routes routes_;
  Json all_ = Json::object();
  std::size_t bytes_ = 0;
};

// What was logged of a tensor; of images as many as there is room for, of all parts of the run.
void add_tensors(Answers& answers, const std::string& root, const std::string& name, bool are_images) {
  const Json tensors = answers.add(
      root + "/tensors?" + name,
      {root + "/tensors", {{"name", name}, {"points", are_images ? images_of_a_name : points_of_a_spread}}});
  if (!are_images) return;
  for (const auto& row : tensors.at("rows")) {
    const std::string number = row.at("row").dump();
    if (answers.bytes() > most_bytes) return;
    try {
      answers.add(root + "/image?" + name + "&" + number,
                  {root + "/image", {{"name", name}, {"row", number}}});
    } catch (const core::Error&) {
      // Its place stays empty, as on the page of the server.
    }
  }
}

std::string page_around(const std::string& data) {
  static const std::regex element(R"x(<(link|script)[^>]* (href|src)="([^"]*)"[^>]*>(</script>)?)x");
  return replaced(text_of("/page/index.html"), element, [&](const std::cmatch& match) -> std::string {
    const std::string path = match[3].str();
    if (match[1] == "script") {
      Modules modules;
      const std::string first = modules.add(path);
      return "<script type=\"application/json\" id=\"report\">" + data + "</script>\n" +
             "<script type=\"importmap\">" + in_script({{"imports", modules.urls()}}) + "</script>\n" +
             "<script type=\"module\">import \"" + first + "\";</script>";
    }
    if (core::fs::path(path).extension() == ".css")
      return "<style>\n" + std::string(text_of(path)) + "</style>";
    return "<link rel=\"icon\" href=\"" + data_url("image/svg+xml", text_of(path)) + "\">";
  });
}

}  // namespace

Report report_of(const core::Store& store, const core::RunDir& run, const std::string& replay) {
  Report out;
  Answers answers(store);
  const std::string root = "/data/runs/" + run.id();
  const Json shown = answers.add(root, {root, {}});
  for (const auto& one : shown.at("replays")) {
    const std::string path = root + "/replays/" + one.at("id").get<std::string>();
    answers.add(path, {path, {}});
  }
  answers.add(root + "/decisions", {root + "/decisions", {}});
  std::size_t left_out = 0;
  for (const auto& one : shown.at("names")) {
    const std::string name = one.at("name").get<std::string>();
    if (answers.bytes() > most_bytes) {
      ++left_out;
    } else if (one.at("kind") == "other") {
      continue;  // the last value is known, and nothing else is shown
    } else if (one.at("kind") != "numbers") {
      add_tensors(answers, root, name, one.at("kind") == "image");
    } else {
      answers.add(root + "/series?" + name,
                  {root + "/series", {{"name", name}, {"points", points_of_a_chart}}});
    }
  }
  if (left_out > 0)
    out.notes.push_back(std::to_string(left_out) + " charts are left out; flor serve shows all");
  const Json data = {{"view", "/run/" + run.id() + (replay.empty() ? "" : "/replay/" + replay)},
                     {"made", core::wall_seconds()},
                     {"notes", out.notes},
                     {"snapshot", {{"store", store.path().string()}, {"runs", {shown.at("line")}}}},
                     {"answers", answers.all()}};
  out.html = page_around(in_script(data));
  return out;
}

}  // namespace flor::dashboard
