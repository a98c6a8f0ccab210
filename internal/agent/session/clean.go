// This file bounds and normalizes events before they are stored.

package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Limits of stored events.
const (
	maxText    = 256 << 10 // bytes of a text
	maxTurn    = 1 << 20   // maximum bytes of all texts in a turn
	maxEvents  = 2000      // reports of a turn
	maxWord    = 200       // bytes of identifiers and other words
	maxPath    = 1 << 10   // bytes of a path or URL
	maxPaths   = 200       // paths of a call
	outputLine = 400       // maximum bytes of an output line
	maxShown   = 40        // entries of an injection
	maxRare    = 100       // terms of an injection
	maxTaints  = 8         // calls of a turn that returned text by others
	maxTaint   = 250       // bytes of a call in maxTaints
)

// clean returns the event in its stored form. It is idempotent.
func (e Event) clean() Event {
	for _, s := range []*string{&e.Client, &e.Session, &e.Turn, &e.ID, &e.Branch, &e.Agent, &e.Model} {
		*s = short(*s, maxWord)
	}
	e.Dir, e.Transcript = short(e.Dir, maxPath), short(e.Transcript, maxPath)
	e.Text = cutMarked(strings.TrimSpace(valid(e.Text)), maxText)
	e.Time = e.Time.UTC().Round(0)
	if y := e.Time.Year(); y < 1 || y > 9999 { // JSON cannot encode it
		e.Time = time.Time{}
	}
	if e.Call != nil {
		e.Call = e.Call.clean()
	}
	e.Repeats = e.Repeats.clean()
	switch {
	case e.Kind != Injected:
		e.Injection = nil
	case e.Injection != nil:
		e.Call, e.Injection = nil, e.Injection.clean()
	}
	return e
}

func (c *Call) clean() *Call {
	d := *c
	d.Tool = short(c.Tool, maxWord)
	d.Command = strings.TrimSpace(cut(strings.TrimSpace(valid(c.Command)), MaxCommand))
	d.Asked = short(c.Asked, maxPath)
	d.Wrote, d.Read = cleanPaths(c.Wrote), cleanPaths(c.Read)
	d.Was, d.Became = short(c.Was, ReplacedLen), short(c.Became, ReplacedLen)
	d.Before, d.After = short(c.Before, ReplacedLen), short(c.After, ReplacedLen)
	d.Output, d.Reading = tail(c.Output), c.Reading.clean()
	return &d
}

// clean returns the injection in its stored form.
func (in *Injection) clean() *Injection {
	d := *in
	d.Place = short(in.Place, maxWord)
	d.Answer = short(in.Answer, maxWord)
	d.Tokens = max(0, in.Tokens)
	for _, f := range []*float64{&d.G, &d.Floor} {
		if math.IsNaN(*f) || math.IsInf(*f, 0) { // JSON cannot encode it
			*f = 0
		}
	}
	d.Shown, d.Rare = nil, nil
	for _, s := range in.Shown[:min(len(in.Shown), maxShown)] {
		d.Shown = append(d.Shown, ShownEntry{short(s.In, maxWord), short(s.Name, oxbow.MaxName), s.Version})
	}
	for _, w := range in.Rare[:min(len(in.Rare), maxRare)] {
		w = short(w, maxWord)
		if w != "" {
			d.Rare = append(d.Rare, w)
		}
	}
	return &d
}

func cleanPaths(ps []string) []string {
	var all []string
	for _, p := range ps {
		p = short(p, maxPath)
		if p != "" {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxPaths)]
}

// valid returns the text as valid UTF-8 with Unix line ends and without NUL bytes.
func valid(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if strings.ContainsAny(s, "\x00\r") {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(s)
	}
	return s
}

// short returns s on a single line, without control characters and cut to at most maxBytes bytes.
func short(s string, maxBytes int) string {
	if s == "" {
		return ""
	}
	s = strings.Map(func(r rune) rune {
		isHighControl := r >= 0x7f && r < 0xa0
		if isHighControl || r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimSpace(cut(strings.TrimSpace(s), maxBytes))
}

// cut returns the beginning of a text, with at most maxBytes bytes.
func cut(s string, maxBytes int) string { return text.CutPrefix(s, maxBytes) }

// cutMarked cuts a text that is longer than maxBytes bytes, and appends a note with its original size.
func cutMarked(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	mark := fmt.Sprintf("\n[… cut here: the text had %s]", text.FormatBytes(int64(len(s))))
	return strings.TrimSpace(cut(s, maxBytes-len(mark))) + mark
}

// tail returns the last [MaxOutputLines] lines of an output, each cut to outputLine bytes.
func tail(output string) string {
	output = strings.TrimRight(valid(output), " \t\n")
	lines := strings.Split(output, "\n")
	lines = lines[max(0, len(lines)-MaxOutputLines):]
	for i, l := range lines {
		lines[i] = strings.TrimRight(cut(l, outputLine), " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// merge combines two reports about the same event. The order of merges does not matter, and
// merging the same report again changes nothing.
func (e Event) merge(o Event) Event {
	isEarlier := !o.Time.IsZero() && o.Time.Before(e.Time)
	if isEarlier || e.Time.IsZero() {
		e.Time = o.Time
	}
	for _, p := range [][2]*string{
		{&e.Turn, &o.Turn},
		{&e.ID, &o.ID},
		{&e.Dir, &o.Dir},
		{&e.Branch, &o.Branch},
		{&e.Agent, &o.Agent},
		{&e.Model, &o.Model},
		{&e.Transcript, &o.Transcript}, {&e.Text, &o.Text},
	} {
		*p[0] = fuller(*p[0], *p[1])
	}
	switch {
	case e.Call == nil:
		e.Call = o.Call
	case o.Call != nil:
		e.Call = e.Call.merge(o.Call)
	}
	e.Injection = e.Injection.merge(o.Injection)
	e.Repeats = e.Repeats.merge(o.Repeats)
	return e
}

// merge combines the repeats in two reports of the same event.
func (r *Repeats) merge(o *Repeats) *Repeats {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	return (&Repeats{slices.Concat(r.Foreign, o.Foreign), slices.Concat(r.Unvouched, o.Unvouched)}).clean()
}

// clean returns the stored form, which has each call once, sorted. Without calls, it returns
// nil.
func (r *Repeats) clean() *Repeats {
	if r == nil || len(r.Foreign)+len(r.Unvouched) == 0 {
		return nil
	}
	all := Repeats{slices.Clone(r.Foreign), slices.Clone(r.Unvouched)}
	for _, list := range []*[]string{&all.Foreign, &all.Unvouched} {
		for i, s := range *list {
			(*list)[i] = short(s, maxTaint)
		}
		slices.Sort(*list)
		*list = slices.Compact(*list)
		*list = (*list)[:min(len(*list), maxTaints)]
	}
	return &all
}

// merge returns the reading of the higher rank, which is the less trusted reading.
func (r *Reading) merge(o *Reading) *Reading {
	if r == nil {
		return o
	}
	if o != nil && o.rank() > r.rank() {
		return o
	}
	return r
}

// clean returns the reading in its stored form. An unknown level becomes ReadForeign.
func (r *Reading) clean() *Reading {
	if r == nil {
		return nil
	}
	d := Reading{Level: r.Level, What: short(r.What, maxTaint), Trace: short(r.Trace, maxWord)}
	if d.Level != ReadOwn && d.Level != ReadUnvouched {
		d.Level = ReadForeign
	}
	return &d
}

func (c *Call) merge(o *Call) *Call {
	d := *c
	d.Tool = fuller(c.Tool, o.Tool)
	d.Command = fuller(c.Command, o.Command)
	d.Asked = fuller(c.Asked, o.Asked)
	d.Output = fuller(c.Output, o.Output)
	d.Wrote, d.Read = cleanPaths(slices.Concat(c.Wrote, o.Wrote)), cleanPaths(slices.Concat(c.Read, o.Read))
	d.Was, d.Became = fuller(c.Was, o.Was), fuller(c.Became, o.Became)
	d.Before, d.After = fuller(c.Before, o.Before), fuller(c.After, o.After)
	d.Failed = c.Failed || o.Failed
	if exitStatus(o) > exitStatus(c) {
		d.Exit = o.Exit
	}
	d.Reading = c.Reading.merge(o.Reading)
	return &d
}

// merge returns the fuller of two reports about the same injection.
func (in *Injection) merge(o *Injection) *Injection {
	if in == nil {
		return o
	}
	if o != nil && fuller(in.asJSON(), o.asJSON()) != in.asJSON() {
		return o
	}
	return in
}

// asJSON returns the injection as JSON, for comparisons.
func (in *Injection) asJSON() string {
	b, _ := json.Marshal(in) // cannot fail after clean
	return string(b)
}

// fuller returns the longer of two texts. If both are equally long, it returns the text that is
// greater in byte order.
func fuller(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0 {
		return b
	}
	return a
}
