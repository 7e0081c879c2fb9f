"""Manual pages: a page a command from its help; environment, flor.conf and exit codes from docs/reference.md."""
import re


def escape(text):
    return text.replace("\\", r"\e").replace("-", r"\-")


def line(text):
    """A line of text: one that begins with a dot or a quote would be a request."""
    return r"\&" + text if text[:1] in ".'" else text


def inline(text):
    """`code`, *emphasis* and [links](to) of a Markdown line."""
    text = escape(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text))
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    return re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"\\fI\1\\fR", text)


def from_markdown(text):
    """Paragraphs and tables of two columns, which is what those sections have."""
    out, new_paragraph = [], False
    for row in text.strip().splitlines():
        cells = re.match(r"\| (.*?) \| (.*) \|$", row)
        if cells:
            if not set(row) <= set("|- ") and cells[2].strip() not in ("", "meaning", "as the variable"):
                out += [".TP", line(inline(cells[1])), line(inline(cells[2]).replace(r"\e|", "|"))]
        elif row.startswith(("|", "<!--", "---")) or not row:
            new_paragraph = True
            continue
        else:
            out += ([".PP"] if new_paragraph else []) + [line(inline(row))]
        new_paragraph = False
    return out


def section_of(page, heading):
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |^---$|\Z)", page, re.M | re.S)
    if not found:
        raise SystemExit(f"manuals: docs/reference.md has no section '{heading}'")
    return from_markdown(found[1])


def synopsis(command):
    if command.usage:
        return command.usage
    if command.commands:
        return " ".join(command.words) + " COMMAND [flags]"
    return " ".join([*command.words, "[flags]", *(name for name, _ in command.arguments)])


def flag_rows(command):
    out = []
    for flag in command.flags:
        value = "|".join(flag.choices) or flag.value
        names = ", ".join(rf"\fB{escape(name)}\fR" for name in flag.names)
        out += [".TP", names + (rf" \fI{escape(value)}\fR" if value else ""), line(escape(flag.text))]
    return out


def page(title, section, version, name, parts):
    out = [f'.TH "{title.upper()}" "{section}" "" "Flor {version}" "Flor for Slurm"', ".SH NAME", escape(name)]
    for heading, lines in parts:
        if lines:
            out += [f".SH {heading}", *lines]
    return "\n".join(out) + "\n"


def see_also(names):
    return [", ".join(rf"\fB{escape(name)}\fR({section})" for name, section in names)]


def command_page(command, version, above):
    rows = [text for name, about in command.arguments for text in (".TP", rf"\fI{name}\fR", line(escape(about)))]
    for below in command.commands:
        rows += [".TP", rf"\fB{escape(' '.join(below.words[1:]))}\fR", line(escape(below.purpose))]
        rows += [text for name, about in below.arguments for text in (".RS", ".TP", rf"\fI{name}\fR", escape(about), ".RE")]
    parts = [("SYNOPSIS", [rf"\fB{escape(synopsis(command))}\fR"]), ("DESCRIPTION", [line(escape(command.purpose)) + "."]),
             ("COMMANDS" if command.commands else "ARGUMENTS", rows), ("OPTIONS", flag_rows(command)),
             ("SEE ALSO", see_also(above))]
    return page(command.name, 1, version, f"{command.name} - {command.purpose[0].lower() + command.purpose[1:]}", parts)


def pages(flor, agent, version, reference):
    """{file name: text}"""
    out = {}
    for command in flor.commands:
        out[command.name + ".1"] = command_page(command, version, [("flor", 1), ("flor.conf", 5)])
    overview = [text for command in flor.commands for text in
                (".TP", rf"\fB{escape(command.name)}\fR(1)", line(escape(command.purpose)))]
    out["flor.1"] = page("flor", 1, version, "flor - record training runs, and replay them with log statements added later", [
        ("SYNOPSIS", [rf"\fB{escape(synopsis(flor))}\fR"]), ("DESCRIPTION", [line(escape(flor.purpose))]),
        ("COMMANDS", overview), ("OPTIONS", flag_rows(flor)), ("EXIT STATUS", section_of(reference, "Exit codes")),
        ("ENVIRONMENT", section_of(reference, "Environment")),
        ("SEE ALSO", see_also([("flor-agent", 1), ("flor.conf", 5), ("srun", 1)]))])
    out["flor-agent.1"] = page("flor-agent", 1, version, "flor-agent - agent of flor on a node", [
        ("SYNOPSIS", [r"\fBflor\-agent\fR [flags]"]), ("DESCRIPTION", [line(escape(agent.purpose))]),
        ("OPTIONS", flag_rows(agent)), ("SEE ALSO", see_also([("flor", 1), ("flor.conf", 5)]))])
    out["flor.conf.5"] = page("flor.conf", 5, version, "flor.conf - settings of flor", [
        ("DESCRIPTION", section_of(reference, "flor.conf")), ("ENVIRONMENT", section_of(reference, "Environment")),
        ("SEE ALSO", see_also([("flor", 1), ("flor-agent", 1)]))])
    return out
