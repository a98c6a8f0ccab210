// This file reads the entries for a dump and assigns a file to each.

package mdtree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// errEntryChanged reports that an entry was changed while it was dumped.
var errEntryChanged = fmt.Errorf("%w: an entry was changed meanwhile", oxbow.ErrBusy)

// outputFile is an entry and the file to which it is written. It does not contain the text, so that
// a dump does not need memory for all texts.
type outputFile struct {
	name     string
	kind     oxbow.Kind
	path     string
	showName bool
	sum      string // hash of the file in hex

	// text is the file's text without the name, and nameAt the position of the name in it. If hasText
	// is false, the last dump wrote the same file, and the text can be read from the store again.
	text    spooledText
	nameAt  int
	hasText bool
}

// collect reads the entries from the store and assigns a file to each.
func (d *dumper) collect(ctx context.Context) error {
	var buf []byte
	for e, err := range d.store.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		for _, text := range append([]string{e.Name, e.Content}, e.Aliases...) {
			if !utf8.ValidString(text) {
				return &oxbow.NameError{
					Name: e.Name,
					Err:  fmt.Errorf("entry %w: its text is not UTF-8", oxbow.ErrInvalid),
				}
			}
		}
		e.Labels = withoutLocal(e.Labels)
		if d.findDirectives && (directives().MatchString(e.Content) || directives().MatchString(e.Name)) {
			d.report.Directives = append(d.report.Directives, strings.Clone(e.Name))
		}
		out, text, err := d.render(&e, buf)
		if err != nil {
			return err
		}
		buf = text
		d.outputs = append(d.outputs, out)
	}
	slices.SortFunc(d.outputs, func(a, b outputFile) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.name, b.name))
	})
	slices.Sort(d.report.Directives)
	d.report.Entries = len(d.outputs)
	return d.assignFiles(ctx)
}

// render returns the output for an entry. It adds the text to the spool, unless the last dump wrote
// the same text. The text is appended to buf[:0], which is returned for the next call.
func (d *dumper) render(e *oxbow.Entry, buf []byte) (outputFile, []byte, error) {
	out := outputFile{kind: e.Kind}
	text, nameAt := entryText{Entry: e}.appendWithoutName(buf[:0])
	out.nameAt = nameAt
	if last, ok := d.base.named(e.Name); ok && !d.keepAll && last.hasSum(text) {
		out.name = last.Name
		out.sum = last.Sum
		return out, text, nil
	}
	// Clone the name, because it may share the memory of the whole entry.
	out.name = strings.Clone(e.Name)
	out.sum = hexSum(text)
	out.hasText = true
	var err error
	out.text, err = d.spool.add(text)
	return out, text, err
}

// assignFiles assigns a path to each output, and determines the hash of its file.
func (d *dumper) assignFiles(ctx context.Context) error {
	var buf []byte
	for from := 0; from < len(d.outputs); {
		kind, to := d.outputs[from].kind, from
		var names []string
		for ; to < len(d.outputs) && d.outputs[to].kind == kind; to++ {
			names = append(names, d.outputs[to].name)
		}
		dir := dirOf(kind)
		if dir == "" {
			return &oxbow.NameError{Name: names[0], Err: fmt.Errorf("entry of kind %v has no place in a tree", kind)}
		}
		stems, shown := assignStems(names)
		for k, stem := range stems {
			out := &d.outputs[from+k]
			out.path, out.showName = dir+"/"+stem+".md", !shown[k]
			if !out.showName {
				continue
			}
			out.sum = ""
			text, err := d.appendText(ctx, buf[:0], out)
			if err != nil {
				return err
			}
			out.sum = hexSum(text)
			buf = text
		}
		from = to
	}
	return nil
}

// appendText appends the text of an output's file to b. If the text must be read from the store and
// has changed there, the error is errEntryChanged.
func (d *dumper) appendText(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	if !out.hasText {
		return d.appendFromStore(ctx, b, out)
	}
	b, err := d.spool.appendTo(b, out.text)
	if err == nil && out.showName {
		b = slices.Insert(b, len(b)-out.text.length+out.nameAt, appendName(nil, out.name)...)
	}
	return b, err
}

func (d *dumper) appendFromStore(ctx context.Context, b []byte, out *outputFile) ([]byte, error) {
	e, err := d.store.Get(ctx, out.name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return b, errEntryChanged
	}
	if err != nil {
		return b, err
	}
	e.Labels = withoutLocal(e.Labels)
	start := len(b)
	b = entryText{Entry: &e, showName: out.showName}.appendTo(b)
	if e.Kind != out.kind || (out.sum != "" && hexSum(b[start:]) != out.sum) {
		return b, errEntryChanged
	}
	return b, nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
