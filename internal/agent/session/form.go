// The form of a turn as the content of an entry.
//
//	user: <the person's text>
//
//	assistant: <the agent's text>
//
//	<the end of what a failed command printed>
//
//	<!--1 '*=~…-->
//
// Above the last line stand the texts of the turn, each once. The last line has
// what else is known: the reports of events as JSON, compressed, in 32 signs that
// are no part of words, so that the content is ranked by its texts alone. The texts
// of injections stand there, too, and how a session began and ended: neither the person
// nor the agent has said them.

package session

import (
	"bytes"
	"compress/flate"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	metaOpen  = "<!--1 "
	metaClose = "-->"
	sep       = "\n\n"

	maxMeta = 16 << 20 // bytes of JSON that a content may expand to
)

// heads stand before texts by kind.
var heads = map[Kind]string{Prompt: "user: ", Text: "assistant: "}

// meta is the last line of a content.
type meta struct {
	Client  string    `json:"c"`
	Session string    `json:"s"`
	N       int       `json:"n"`
	ID      string    `json:"id,omitempty"`
	Start   time.Time `json:"b,omitzero"`
	Texts   [][2]int  `json:"t,omitempty"` // head and length of each text
	Events  []report  `json:"e"`
}

// isSaid reports whether the text of an event is shown in the content: what a person, an
// agent or a tool said, and not a word of the client, such as resume.
func (k Kind) isSaid() bool {
	return k != Injected && k != Start && k != Stop && k != End
}

// report is an event, with numbers of texts, from 1, in their place.
type report struct {
	Event
	T int `json:"t,omitempty"` // Text
	O int `json:"o,omitempty"` // Output of the call
}

// signs are the bits of the last line, five in each.
var signs = base32.NewEncoding("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").WithPadding(base32.NoPadding)

var errForm = errors.New("not the content of a turn")

// Content returns the turn as the content of an entry.
func (t *Turn) Content() string {
	m := meta{Client: t.Client, Session: t.Session, N: t.N, ID: t.ID, Start: t.Start}
	var b strings.Builder
	at := map[string]int{"": 0}
	put := func(head, s string) {
		if _, ok := at[s]; ok {
			return
		}
		b.WriteString(head + s + sep)
		m.Texts = append(m.Texts, [2]int{len(head), len(s)})
		at[s] = len(m.Texts)
	}
	both := [][]Event{t.Events, t.reports}
	for _, k := range []Kind{Prompt, Text} {
		for _, es := range both {
			for i := range es {
				if es[i].Kind == k {
					put(heads[k], es[i].Text)
				}
			}
		}
	}
	for _, es := range both {
		for i := range es {
			if es[i].Kind.isSaid() {
				put("", es[i].Text)
			}
			if c := es[i].Call; c != nil {
				put("", c.Output)
			}
		}
	}
	m.Events = make([]report, 0, len(t.reports))
	for _, e := range t.reports {
		r := report{Event: e}
		r.Client, r.Session = "", ""
		if e.Kind.isSaid() {
			r.T, r.Text = at[e.Text], ""
		}
		if c := e.Call; c != nil {
			d := *c
			r.O, d.Output, r.Call = at[c.Output], "", &d
		}
		m.Events = append(m.Events, r)
	}
	return b.String() + metaOpen + pack(&m) + metaClose
}

// cutForm cuts a content into its texts and the last line, without its marks.
func cutForm(content string) (texts, last string, ok bool) {
	body, ok := strings.CutSuffix(content, metaClose)
	i := strings.LastIndexByte(body, '\n') + 1
	if !ok || !strings.HasPrefix(body[i:], metaOpen) {
		return content, "", false
	}
	return body[:i], body[i+len(metaOpen):], true
}

// Readable returns the content of a turn without what is only for programs.
func Readable(content string) string {
	texts, _, _ := cutForm(content)
	return strings.TrimRight(texts, "\n")
}

// Parse returns the turn that a content is of. The error of any other text
// matches errForm.
func Parse(content string) (Turn, error) {
	texts, last, ok := cutForm(content)
	if !ok {
		return Turn{}, errForm
	}
	var m meta
	if err := unpack(last, &m); err != nil {
		return Turn{}, fmt.Errorf("%w: %v", errForm, err)
	}
	all := []string{""}
	for _, n := range m.Texts {
		head, size := n[0], n[1]
		if head < 0 || size < 0 || head > len(texts) || size > len(texts)-head ||
			!strings.HasPrefix(texts[head+size:], sep) {
			return Turn{}, fmt.Errorf("%w: it was edited", errForm)
		}
		all = append(all, texts[head:head+size])
		texts = texts[head+size+len(sep):]
	}
	t := Turn{Client: m.Client, Session: m.Session, N: m.N, ID: m.ID, Start: m.Start}
	for _, r := range m.Events {
		if r.T < 0 || r.O < 0 || max(r.T, r.O) >= len(all) {
			return Turn{}, fmt.Errorf("%w: a text is missing", errForm)
		}
		e := r.Event
		e.Client, e.Session = m.Client, m.Session
		if r.T > 0 { // earlier versions wrote the texts of all events but injections so
			e.Text = all[r.T]
		}
		if e.Call != nil {
			e.Call.Output = all[r.O]
		}
		t.reports = append(t.reports, e)
	}
	t.derive()
	return t, nil
}

// Packed returns the texts of a turn that its content does not show: those of
// injections, and the arguments of its calls. Any other content has none.
func Packed(content string) (texts []string) {
	t, _ := Parse(content)
	for _, e := range t.reports {
		if e.Kind == Injected {
			texts = append(texts, e.Text)
		}
		if e.Call != nil {
			texts = append(texts, e.Call.Asked)
		}
	}
	return texts
}

// packer is what packing and unpacking need, made once.
type packer struct {
	buf bytes.Buffer
	w   *flate.Writer
	r   io.ReadCloser
}

var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // the level is valid
	return &packer{w: w, r: flate.NewReader(nil)}
}}

func pack(m *meta) string {
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.buf.Reset()
	p.w.Reset(&p.buf)
	b, _ := json.Marshal(m) // of texts, numbers and times that JSON has
	_, _ = p.w.Write(b)     // a buffer has no error
	_ = p.w.Close()
	return signs.EncodeToString(p.buf.Bytes())
}

func unpack(s string, m *meta) error {
	b, err := signs.DecodeString(s)
	if err != nil {
		return err
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	if err := p.r.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return err
	}
	p.buf.Reset()
	if _, err := p.buf.ReadFrom(io.LimitReader(p.r, maxMeta)); err != nil {
		return err
	}
	return json.Unmarshal(p.buf.Bytes(), m)
}
