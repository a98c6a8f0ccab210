// The header of a Markdown file: what each key of front matter sets in its
// entries.

package exchange

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// maxHeaderLabels leaves room for the labels of the origin and of a text's tags.
const maxHeaderLabels = oxbow.MaxLabels / 2

// header holds for all entries of a file.
type header struct {
	entry       oxbow.Entry // Name as the front matter has it, "" without
	description string
	warnings    []string
	further     []oxbow.Label // of keys that an entry has no place for

	ref  string
	opts *ReadOptions
	seen map[string]bool // keys read
}

// headerFields are the keys of front matter that an entry has a place for.
var headerFields = []struct {
	key  string
	many bool // it takes several values
	set  func(*header, frontKey)
}{
	{"name", false, (*header).setName},
	{"title", false, (*header).setName},
	{"description", false, func(h *header, k frontKey) { h.description = strings.TrimSpace(k.value()) }},
	{"tags", true, (*header).addTags},
	{"aliases", true, (*header).addAliases},
	{"project", true, func(h *header, k frontKey) { h.addLabels(k, oxbow.LabelProject, k.values...) }},
	{"related_files", true, func(h *header, k frontKey) { h.addLabels(k, oxbow.LabelFile, k.values...) }},
	{"confidence", false, (*header).setConfidence},
	{"created", false, (*header).setCreated},
	{"date", false, (*header).setCreated},
	{"kind", false, (*header).setKind},
	{"type", false, (*header).setType}, // all others become labels
}

// readHeader reads front matter. What it cannot place becomes a warning.
func readHeader(keys []frontKey, ref string, o *ReadOptions) header {
	h := header{ref: ref, opts: o, seen: make(map[string]bool)}
	for _, k := range keys {
		h.read(k)
	}
	h.entry.Aliases = tidyAliases(h.entry.Name, h.entry.Aliases)
	return h
}

func (h *header) read(k frontKey) {
	all := strings.Join(k.values, ", ")
	switch {
	case k.err != nil:
		h.warn(k, "front matter was left out: %v", k.err)
		return
	case len(k.values) == 0:
		return
	case h.seen[k.key]:
		h.warn(k, "%s is given twice; the first holds, not %s", k.key, short(all))
		return
	}
	h.seen[k.key] = true
	var known []string
	for _, f := range headerFields {
		if f.key == k.key && (f.many || len(k.values) == 1) {
			f.set(h, k)
			return
		}
		known = append(known, f.key)
	}
	near := hint(k.key, known)
	switch {
	case slices.Contains(known, k.key):
		h.warn(k, "%s takes one value; left out: %s", k.key, short(all))
	case near != "":
		h.warn(k, "key %s was left out: %s%s", short(k.key), short(all), near)
	default:
		at := len(h.entry.Labels)
		h.addLabels(k, k.key, k.values...)
		h.further = append(h.further, h.entry.Labels[at:]...)
	}
}

func (h *header) warn(k frontKey, format string, args ...any) {
	h.warnings = append(h.warnings, fmt.Sprintf("%s: %s", at(h.ref, k.line), fmt.Sprintf(format, args...)))
}

// setName takes the name, or else the title; the other is an alias.
func (h *header) setName(k frontKey) {
	e := &h.entry
	name := cutName(k.value(), oxbow.MaxName)
	if len(name) < len(strings.TrimSpace(k.value())) && len(k.value()) > oxbow.MaxName {
		h.warn(k, "%s has %d bytes; the most is %d, so its end was cut off", k.key, len(k.value()), oxbow.MaxName)
	}
	switch {
	case e.Name == "":
		e.Name = name
	case e.Name != name && k.key == "name":
		e.Name, e.Aliases = name, append(e.Aliases, e.Name)
	case e.Name != name:
		e.Aliases = append(e.Aliases, name)
	}
}

func (h *header) addTags(k frontKey) {
	tags := k.values
	if !k.list {
		tags = strings.Split(k.value(), ",")
	}
	for _, t := range tags {
		h.addLabels(k, oxbow.LabelTag, strings.TrimPrefix(strings.TrimSpace(t), "#"))
	}
}

func (h *header) addAliases(k frontKey) {
	for _, v := range k.values {
		if err := oxbow.CheckName(v); err != nil {
			h.warn(k, "an alias was left out: %v", err)
			continue
		}
		h.entry.Aliases = append(h.entry.Aliases, v)
	}
}

func (h *header) addLabels(k frontKey, key string, values ...string) {
	for _, v := range values {
		l := oxbow.Label{Key: key, Value: strings.TrimSpace(v)}
		if l.Value == "" {
			continue
		}
		err := l.Check()
		if err == nil && len(h.entry.Labels) >= maxHeaderLabels {
			err = fmt.Errorf("an entry has at most %d labels", oxbow.MaxLabels)
		}
		if err != nil {
			h.warn(k, "%s was left out: %v", k.key, err)
			continue
		}
		h.entry.Labels = append(h.entry.Labels, l)
	}
}

func (h *header) setConfidence(k frontKey) {
	c, err := strconv.ParseFloat(k.value(), 64)
	if err != nil || !(c >= 0 && c <= 1) {
		h.warn(k, "confidence %s was left out: it is not a number from 0 to 1", short(k.value()))
		return
	}
	h.entry.Labels = append(h.entry.Labels, oxbow.Confidence(c))
}

// setCreated takes created, or else date.
func (h *header) setCreated(k frontKey) {
	t, err := parseDate(k.value(), h.opts.location())
	switch {
	case err != nil:
		h.warn(k, "%s was left out: %v", k.key, err)
	case h.entry.Created.IsZero() || k.key == "created":
		h.entry.Created = t
	}
}

func (h *header) setKind(k frontKey) {
	kind, err := parseKind(k.value())
	if err != nil {
		h.warn(k, "kind was left out: %v", err)
		return
	}
	h.entry.Kind = kind
}

// setType takes a kind or, since many programs have types of their own, a label.
func (h *header) setType(k frontKey) {
	if kind, err := oxbow.ParseKind(k.value()); err == nil && !h.seen["kind"] {
		h.entry.Kind = kind
		return
	}
	h.addLabels(k, "type", k.value())
}

// tidyAliases drops repeats and the name itself.
func tidyAliases(name string, as []string) []string {
	var out []string
	seen := map[string]bool{name: true}
	for _, a := range as {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}
