// This file supports folders whose files people continue to edit. It reads selected files, and writes changes of
// entries into files.

package exchange

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// ReadFiles yields the items of the named files. The paths are relative to the root of the file system. A note is read
// before its conflict copies. For a file that cannot be read, it yields an [*ItemError].
func ReadFiles(fsys vfs.FS, files []string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		readFiles(fsys, slices.Clone(files), o, yield)
	}
}

// DetectNoteFormat returns Obsidian if a directory is a vault of Obsidian. Otherwise it returns "", because each file
// in the directory can have a different format.
func DetectNoteFormat(fsys vfs.FS, dir string) Format {
	if detectDirFormat(fsys, dir) == Obsidian {
		return Obsidian
	}
	return ""
}

// IsMarkdown reports whether a file with this name is a Markdown file.
func IsMarkdown(name string) bool { return formatByExtension(name) == Markdown }

// OriginLabelValue returns the value that the label [LabelImportFile] has for the entries of a file.
func OriginLabelValue(file string) string { return originLabel(file) }

// LabelsWithImportLabels returns entry e's labels together with the labels that an import of the file would add.
func LabelsWithImportLabels(e oxbow.Entry, file string) []oxbow.Label {
	return withImportLabels(Item{Entry: e.Clone(), Origin: file}).Entry.Labels
}

// ReplaceImportLabels removes the import labels from the list labels, and adds the import labels in the list
// importedLabels. Import labels record where an import found an entry. The result is a sorted new list, and the list
// labels is not changed.
func ReplaceImportLabels(labels, importedLabels []oxbow.Label) []oxbow.Label {
	labels = slices.DeleteFunc(slices.Clone(labels), isImportLabel)
	for _, l := range importedLabels {
		if isImportLabel(l) {
			labels = append(labels, l)
		}
	}
	return oxbow.SortLabels(labels)
}

// ImportFileLabelValue returns the value of the label that names the file from which an entry was imported, or "".
func ImportFileLabelValue(e oxbow.Entry) string {
	file, _ := e.Label(originLabelKey)
	return file
}

// HaveEqualBodies reports whether two texts are the same body of a file, apart from line breaks at the beginning
// and the end.
func HaveEqualBodies(a, b string) bool { return trimLineBreaks(a) == trimLineBreaks(b) }

func trimLineBreaks(s string) string { return strings.Trim(s, "\r\n") }

// ReplaceContent returns the text of a Markdown file after a change of one item. The argument fileText is the file's
// present text, and content is the item's new content. The content begins with the description from the front matter,
// which ReplaceContent does not write. ReplaceContent replaces only the item's text below the front matter. It returns
// an error if content does not begin with the description, or if the item's old text is blank or does not occur exactly
// once in the file.
func ReplaceContent(fileText string, it Item, content string) (string, error) {
	above, was := it.Entry.Content[:it.frontMatterTextLen], trimLineBreaks(it.Entry.Content[it.frontMatterTextLen:])
	body, ok := strings.CutPrefix(content, above)
	switch {
	case !ok:
		return "", errors.New("its text no longer begins with the description in the front matter of the file")
	case strings.TrimSpace(was) == "" || strings.Count(fileText, was) != 1:
		return "", errors.New("its text cannot be found in the file")
	}
	return strings.Replace(fileText, was, trimLineBreaks(body), 1), nil
}

// SetFrontMatterTitle returns the text of a Markdown file with the key title added at the beginning of its front
// matter. If the file has no front matter, SetFrontMatterTitle adds one. It does not remove a title that the front
// matter already contains.
func SetFrontMatterTitle(fileText, title string) (string, error) {
	top := &yaml.Node{Kind: yaml.MappingNode}
	addTextKey(top, "title", title)
	b, err := yaml.Marshal(top)
	if err != nil {
		return "", err
	}
	const rule = "---\n"
	if _, size, _ := parseYAMLFrontMatter(fileText); size > 0 && strings.HasPrefix(fileText, rule) {
		return rule + string(b) + fileText[len(rule):], nil
	}
	return rule + string(b) + rule + "\n" + fileText, nil
}

// FormatNote returns an entry as the text of a Markdown file. The front matter contains the aliases and the labels,
// except labels that record the origin, labels that programs set automatically, and the label [oxbow.LabelVerified]. If
// includesName is true, the front matter also contains the name of the entry. The caller must set includesName if the
// file's name differs from the entry's name. FormatNote returns an error if the front matter cannot be encoded as YAML.
func FormatNote(e oxbow.Entry, includesName bool) (string, error) {
	top := &yaml.Node{Kind: yaml.MappingNode}
	if includesName {
		addTextKey(top, "title", e.Name)
	}
	addKeyWithValues(top, "aliases", e.Aliases)
	values := map[string][]string{}
	for _, l := range omitOriginLabels(e.Labels) {
		if !isLabelSetByProgram(l) && l.Key != oxbow.LabelVerified {
			values[l.Key] = append(values[l.Key], l.Value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := key
		switch key {
		case oxbow.LabelTag:
			name = "tags"
		case oxbow.LabelFile:
			name = "related_files"
		}
		addKeyWithValues(top, name, values[key])
	}
	front := ""
	if len(top.Content) > 0 {
		b, err := yaml.Marshal(top)
		if err != nil {
			return "", err
		}
		front = "---\n" + string(b) + "---\n\n"
	}
	return front + trimLineBreaks(e.Content) + "\n", nil
}
