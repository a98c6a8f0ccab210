// This file encodes a turn as the content of an entry.
//
//	user: <the person's text>
//
//	assistant: <the agent's text>
//
//	<the end of what a failed command printed>
//
//	<!--1 '*=~…-->
//
// The lines before the last line contain each text of the turn once. The last line contains
// everything else. These are the reports of events as compressed JSON, encoded with 32
// characters that do not occur in words, so that only the texts determine the search rank. It
// also contains texts from injections and from session starts and ends, because neither the
// person nor the agent wrote these.

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

	maxMeta = 16 << 20 // maximum size of the uncompressed JSON, in bytes
)

// heads contains the prefixes of texts by kind.
var heads = map[Kind]string{Prompt: "user: ", Text: "assistant: "}

// meta is the decoded last line of a content.
type meta struct {
	Client  string    `json:"c"`
	Session string    `json:"s"`
	N       int       `json:"n"`
	ID      string    `json:"id,omitempty"`
	Start   time.Time `json:"b,omitzero"`
	Texts   [][2]int  `json:"t,omitempty"` // length of the prefix and each text, in bytes
	Events  []report  `json:"e"`
}

// isSaid reports whether texts of the kind are shown in the content, because a person, an agent or
// a tool produced them. Other texts are set by the client, such as "resume".
func (k Kind) isSaid() bool {
	return k != Injected && k != Start && k != Stop && k != End
}

// report is an event in which texts are replaced by their numbers, counted from 1.
type report struct {
	Event
	T int `json:"t,omitempty"` // Text
	O int `json:"o,omitempty"` // Output of the call
}

// signs encodes the last line, with five bits per character.
var signs = base32.NewEncoding("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").WithPadding(base32.NoPadding)

var errForm = errors.New("not the content of a turn")

// Content returns the turn encoded as the content of an entry.
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

// cutForm splits a content into the texts and the encoded last line without its delimiters.
func cutForm(content string) (texts, last string, ok bool) {
	body, ok := strings.CutSuffix(content, metaClose)
	i := strings.LastIndexByte(body, '\n') + 1
	if !ok || !strings.HasPrefix(body[i:], metaOpen) {
		return content, "", false
	}
	return body[:i], body[i+len(metaOpen):], true
}

// Readable returns the texts of a turn's content without the last line.
func Readable(content string) string {
	texts, _, _ := cutForm(content)
	return strings.TrimRight(texts, "\n")
}

// Parse decodes a turn from the content of an entry. The error matches errForm if the content is
// not a turn's.
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
		if !isTextLength(texts, head, size) || !strings.HasPrefix(texts[head+size:], sep) {
			return Turn{}, fmt.Errorf("%w: it was edited", errForm)
		}
		all = append(all, texts[head:head+size])
		texts = texts[head+size+len(sep):]
	}
	t := Turn{Client: m.Client, Session: m.Session, N: m.N, ID: m.ID, Start: m.Start}
	for _, r := range m.Events {
		isNumber := min(r.T, r.O) >= 0 && max(r.T, r.O) < len(all)
		if !isNumber {
			return Turn{}, fmt.Errorf("%w: a text is missing", errForm)
		}
		e := r.Event
		e.Client, e.Session = m.Client, m.Session
		if r.T > 0 { // earlier versions also stored the texts of starts and ends this way
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

// isTextLength reports whether texts is long enough for a prefix of head bytes and a text of size bytes.
func isTextLength(texts string, head, size int) bool {
	if head < 0 || size < 0 {
		return false
	}
	return head <= len(texts) && size <= len(texts)-head
}

// PackedTexts returns texts that only the last line of a turn's content has, that is, injections, and
// the URLs and queries of calls. It returns nil if the content is not a turn's.
func PackedTexts(content string) (texts []string) {
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

// packer is a reusable buffer, compressor and decompressor.
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
	b, _ := json.Marshal(m) // cannot fail: texts, numbers and valid times
	_, _ = p.w.Write(b)     // writing to a buffer never fails
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
