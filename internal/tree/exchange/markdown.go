// This file reads Markdown files and names the entries in them.

package exchange

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// ReadMarkdown reads a Markdown file of at most maxMarkdownBytes bytes. The parameter inputName is the name of the
// file. The name appears in messages and origins, and is used as the title if the file lacks a title.
//
// Front matter is YAML between "---" lines, TOML between "+++" lines, or a JSON object that begins with a line "{" and
// ends with a line "}". The following keys have a meaning: "name" or "title", "kind" or "type", "tags", "aliases",
// "project", "related_files", "confidence", "created" or "date", and "description". The description is put above the
// text as a paragraph. If the value of "type" is not a kind, the value becomes a label. The keys "tag", "alias",
// "created_at", "createdAt" and "date created" mean "tags", "aliases" and "created".
//
// All other keys become labels. A key in a nested mapping becomes a label with a joined key, such as owner_name for
// "name" below "owner". Keys below "metadata" are an exception: "type" below "metadata" means "type".
//
// Nothing in the front matter is left out. Everything that cannot become a label is put above the text: values in the
// form "key: value", comments, and lines that are not a key with a value. If the lines of a value use features that are
// not supported, such as YAML anchors, the lines are put above the text unchanged. A value of several lines becomes a
// label, in which spaces replace the line breaks, and is put above the text as well. The warnings of the item list
// possible mistakes. If a file consists only of front matter, the front matter becomes the text. If a second front
// matter follows the first, it stays in the text, and its keys are used as well.
//
// A file below 4 kB, or a file of at most 16 kB without headings, becomes a single entry. The name of this entry is the
// first of these names that exists:
//
//   - the name in the front matter
//   - the only heading of level 1, if the heading is at the beginning of the text; links, emphasis and images are
//     removed from the heading
//   - the name of the file; if many directories have a file with this name, such as README, the directory's name is put
//     before the file's name
//
// If an entry is not named after the file, the file's name becomes an alias of the entry, because links refer to the
// file name. Only one entry of the file gets this alias. In the format [Obsidian], #tags in the text become tags.
//
// A larger file is split at headings of level 1 and 2 into entries named "Title > Heading". A section above 16 kB is
// split at headings of level 3, and if necessary between paragraphs ("… (part 2)"). Names are unique within the file.
// The pieces, joined, are exactly the original text.
//
// A sync program may leave a conflict copy of a note, which is a second file with almost the same content. The entry of
// a conflict copy is named after the copy's file, so that the entry of the note itself can have the name from the
// heading.
//
// The creation time (Created) of an entry is the date in the front matter. If the front matter has no date, Created is
// the date in the file name (such as 2026-04-18). If the file name has no date, Created is o.ModTime.
func ReadMarkdown(r io.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		b, err := io.ReadAll(io.LimitReader(r, maxMarkdownBytes+1))
		switch {
		case err != nil:
			yield(Item{}, fmt.Errorf("reading %s: %w", inputName, err))
			return
		case len(b) > maxMarkdownBytes:
			yield(
				Item{},
				newItemError(
					inputName,
					fmt.Errorf(
						"has more than the %d MiB of a Markdown file that are read; cut it",
						maxMarkdownBytes>>20,
					),
				),
			)
			return
		}
		if i := text.FirstInvalidUTF8(string(b)); i < len(b) {
			yield(
				Item{},
				newItemError(
					lineRef(inputName, 1+strings.Count(string(b[:i]), "\n")),
					errors.New("is not UTF-8; convert it first, for example with iconv -t UTF-8"),
				),
			)
			return
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			yield(
				Item{},
				newItemError(
					lineRef(inputName, 1+strings.Count(string(b[:i]), "\n")),
					errors.New("holds a NUL: this is not a text"),
				),
			)
			return
		}
		items := markdownItems(strings.TrimPrefix(string(b), "\uFEFF"), inputName, o)
		if len(items) == 1 && strings.TrimSpace(items[0].Entry.Content) == "" {
			yield(Item{}, newItemError(lineRef(inputName, 1), errFileWithoutText))
			return
		}
		for _, it := range items {
			if !yieldItem(yield, it) {
				return
			}
		}
	}
}

// markdownItems returns the items of the Markdown text of the file inputName. It does not check whether the items are
// valid, so the caller must check them.
func markdownItems(text, inputName string, o *ReadOptions) []Item {
	keys, size, count := parseAnyFrontMatter(text)
	h := readHeader(keys, inputName, o)
	body := text[size:]
	second, titleFrom := findSecondFrontMatter(body)
	if size == 0 {
		titleFrom = 0
	} else {
		h.addSecondFrontMatter(second)
	}
	if isConflictCopy(path.Base(inputName)) {
		name, _ := titleFromFileName(inputName)
		h.entry.Name = name
		h.warnings = append(h.warnings, lineRef(inputName, 1)+
			": is another version of a note, from a conflict of a sync program; keep the one that is right")
	}
	hasOnlyFront := size > 0 && strings.TrimSpace(body) == ""
	if hasOnlyFront && hasKeyWithValue(keys) {
		body = frontMatterText(text[:size]) // Use the front matter as the text, because the note lacks other text.
		titleFrom = 0
		h.paragraphs, h.description = nil, ""
	}
	if strings.HasPrefix(body, `<div id="meta">`) {
		h.warnings = append(h.warnings, "looks like a file of a dump, whose meta block is read by load, not by import")
	}
	h.setFileDate()
	top := firstTitle(body[titleFrom:])
	file, common := titleFromFileName(inputName)
	title := cmp.Or(h.entry.Name, top, file)
	var items []Item
	used := make(map[string]int)
	for i, p := range splitText(body) {
		it := Item{
			Entry:            h.entry.Clone(),
			Position:         lineRef(inputName, p.line+count),
			Origin:           inputName,
			UnknownKeyLabels: h.unknownKeyLabels,
		}
		it.Entry.Name = uniqueName(nameForTextPiece(title, top, p), used)
		it.Entry.Content = body[p.start:p.end]
		if o.orDefault().Format == Obsidian {
			it.Entry.Labels = append(it.Entry.Labels, findInlineTags(it.Entry.Content)...)
		}
		if i == 0 {
			it.Position = lineRef(inputName, 1)
			if !common && !slices.Equal(splitNameIntoWords(file), splitNameIntoWords(it.Entry.Name)) {
				it.FileName = file
			}
			it.Warnings = h.warnings
			above := h.textAboveContent()
			it.frontMatterTextLen = len(above)
			it.Entry.Content = above + it.Entry.Content
		} else {
			// Remove the aliases of the front matter, because only the first item that is made from the file gets
			// them.
			it.Entry.Aliases = nil
		}
		items = append(items, it)
	}
	return items
}

// parseAnyFrontMatter is like [parseYAMLFrontMatter] for front matter in YAML, TOML or JSON.
func parseAnyFrontMatter(text string) (keys []frontMatterKey, byteCount, lineCount int) {
	for _, parse := range []func(string) ([]frontMatterKey, int, int){parseYAMLFrontMatter, parseTOMLFrontMatter,
		parseJSONFrontMatter} {
		keys, byteCount, lineCount = parse(text)
		if byteCount > 0 || len(keys) > 0 {
			break
		}
	}
	return keys, byteCount, lineCount
}

func hasKeyWithValue(keys []frontMatterKey) bool {
	return slices.ContainsFunc(keys, func(k frontMatterKey) bool { return len(k.values) > 0 || k.err != nil })
}

// setFileDate sets the creation time, if the front matter lacks a date. It uses the date in the file's name, or else
// the time of the file.
func (h *noteHeader) setFileDate() {
	if !h.entry.Created.IsZero() {
		return
	}
	if t, ok := dateInName(path.Base(h.inputName), h.opts.location()); ok {
		h.entry.Created = t
	} else if h.opts != nil && !h.opts.ModTime.IsZero() {
		h.entry.Created = h.opts.ModTime.UTC()
	}
}

// findSecondFrontMatter looks for a second front matter at the beginning of body, the text after the first front
// matter. It returns the second front matter's keys and end offset. A second front matter exists if a program has put
// its own front matter before the note's front matter.
func findSecondFrontMatter(body string) (keys []frontMatterKey, end int) {
	blank := len(body) - len(strings.TrimLeft(body, " \t\r\n"))
	keys, size, _ := parseYAMLFrontMatter(body[blank:])
	for _, k := range keys {
		if k.err != nil {
			return nil, 0 // The text is between two horizontal rules and is not front matter.
		}
	}
	if size == 0 {
		return nil, 0
	}
	return keys, blank + size
}

// frontMatterText returns front matter without the first and the last line.
func frontMatterText(frontMatter string) string {
	_, data, _ := strings.Cut(frontMatter, "\n")
	return data[:strings.LastIndexByte(strings.TrimRight(data, "\r\n"), '\n')+1]
}

// textAboveContent returns the text to put above the content: the description, and the values that cannot become
// labels.
func (h *noteHeader) textAboveContent() string {
	var b strings.Builder
	if h.description != "" {
		b.WriteString(h.description + "\n\n")
	}
	if len(h.paragraphs) > 0 {
		b.WriteString(strings.Join(h.paragraphs, "\n") + "\n\n")
	}
	return b.String()
}

// firstTitle returns the text of the only level 1 heading. It returns "" if there are several such headings, or if
// words precede the heading. Comments, badges and HTML tags may precede it.
func firstTitle(body string) string {
	title := ""
	for m := range splitPositions(body) {
		switch {
		case m.level != 1:
			continue
		case title != "" || !isDecoration(body[:m.offset]):
			return ""
		}
		title = makeValidName(visibleHeadingText(m.text), oxbow.MaxName)
	}
	return title
}

// commonFileNames lists the names of files that many directories contain.
var commonFileNames = []string{
	"readme",
	"index",
	"_index",
	"license",
	"licence",
	"changelog",
	"contributing",
	"copying",
	"notice",
}

// titleFromFileName returns the name of the file filePath without its extension. If the name is in the list
// commonFileNames (names such as README, which occur in many directories), isCommon is true, and the title also
// contains the name of the directory: "directory/name". If no valid title results, the title is "untitled".
func titleFromFileName(filePath string) (title string, isCommon bool) {
	base := path.Base(filePath)
	base = strings.TrimSuffix(base, ".gz")
	if t := strings.TrimSuffix(base, path.Ext(base)); t != "" {
		base = t
	}
	dir := path.Base(path.Dir(filePath))
	isCommon = slices.Contains(commonFileNames, strings.ToLower(base))
	isNamed := dir != "." && dir != "/"
	if isCommon && isNamed {
		base = dir + "/" + base
	}
	return cmp.Or(makeValidName(base, oxbow.MaxName), "untitled"), isCommon
}

// splitNameIntoWords returns the words of a name in lower case. A word consists of letters and digits.
func splitNameIntoWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// tagPattern matches a tag of Obsidian, and the character before it.
var tagPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s(,;])#([\p{L}\p{N}_/-]+)`) },
)

// codePattern matches inline code.
var codePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]*`") })

// findInlineTags returns the #tags in a text as labels, at most maxHeaderLabels-8. It ignores tags in code and tags
// without letters.
func findInlineTags(text string) (ls []oxbow.Label) {
	fence := ""
	for line := range strings.Lines(text) {
		l := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(l, fence) && strings.Trim(l, fence[:1]) == "" {
				fence = ""
			}
			continue
		case l != "":
			fence = openingFence(l)
		}
		for _, m := range tagPattern().FindAllStringSubmatch(codePattern().ReplaceAllString(line, "` `"), -1) {
			tag := oxbow.Label{Key: oxbow.LabelTag, Value: strings.Trim(m[1], "/")}
			isTag := strings.Trim(tag.Value, "0123456789-_/") != "" && tag.Check() == nil
			isNew := len(ls) < maxHeaderLabels-8 && !slices.Contains(ls, tag)
			if isTag && isNew {
				ls = append(ls, tag)
			}
		}
	}
	return ls
}

// nameForTextPiece returns a name for a piece of a text. The name need not be unique. It consists of title and the
// headings above the piece, joined by " > ", and the number of the piece if the section was split. Each part is cut to
// a third of the maximum length, so that the headings, which distinguish the pieces, fit into the name. If the first
// heading is titleHeading, which is the title of the whole text, the heading is left out.
func nameForTextPiece(title, titleHeading string, p textPiece) string {
	path := p.headingPath
	if len(path) > 0 && titleHeading != "" &&
		makeValidName(visibleHeadingText(path[0]), oxbow.MaxName) == titleHeading {
		path = path[1:]
	}
	if len(path) == 0 && p.numberInSection < 2 {
		return title
	}
	names := []string{makeValidName(title, oxbow.MaxName/3)}
	for _, h := range path {
		h = makeValidName(visibleHeadingText(h), oxbow.MaxName/3)
		if h == "" {
			h = "untitled"
		}
		names = append(names, h)
	}
	name := makeValidName(strings.Join(names, " > "), oxbow.MaxName)
	if p.numberInSection > 1 {
		suffix := fmt.Sprintf(" (part %d)", p.numberInSection)
		name = makeValidName(name, oxbow.MaxName-len(suffix)) + suffix
	}
	return name
}

// uniqueName returns the name, or the name with a number if the name was used before, such as "NAME (2)". The map used
// contains the names that earlier calls returned. uniqueName adds the result to it.
func uniqueName(name string, used map[string]int) string {
	if used[name] == 0 {
		used[name] = 1
		return name
	}
	for {
		used[name]++
		if n := numberedName(name, used[name]); used[n] == 0 {
			used[n] = 1
			return n
		}
	}
}
