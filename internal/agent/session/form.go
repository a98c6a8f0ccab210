// This file encodes a turn as the content of an entry:
//
//	user: <the person's text>
//
//	assistant: <the agent's text>
//
//	title: <the session's title, in the session's first turn>
//
//	<the end of what a failed command printed>
//
//	<!--1 '*=~…-->
//
// The lines before the last line contain each text of the turn once. The last line contains everything else, which is
// the reports of the turn's events as compressed JSON. It is encoded with 32 characters that do not occur in words, so
// that only the texts determine the search rank. It also contains the texts of injections, session starts and session
// ends, because neither the person nor the agent wrote these.

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
	turnMetadataPrefix = "<!--1 "
	turnMetadataSuffix = "-->"
	textSeparator      = "\n\n"

	maxTurnMetadataBytes = 16 << 20 // maximum size in bytes of the uncompressed JSON in a stored turn's last line
)

// textPrefixesByKind maps an event kind to the prefix of the event's text in the content of a stored turn.
var textPrefixesByKind = map[EventKind]string{KindTitle: "title: ", KindPrompt: "user: ", KindText: "assistant: "}

// turnMetadata is the decoded last line of a turn's content.
type turnMetadata struct {
	Client     string    `json:"c"`
	Session    string    `json:"s"`
	TurnNumber int       `json:"n"`
	ID         string    `json:"id,omitempty"`
	Start      time.Time `json:"b,omitzero"`
	// for each text in the content: the length of the prefix before the text, and the length of the text, in bytes
	PrefixAndTextLengths [][2]int      `json:"t,omitempty"`
	Events               []storedEvent `json:"e"`
}

// hasShownText reports whether the readable content of a stored turn includes the texts of events with kind k. This is
// the case for texts by a person, an agent or a tool. A text that a client or a hook wrote, such as "resume" in an
// event of KindSessionStart, is stored only in the content's encoded last line.
func (k EventKind) hasShownText() bool {
	return k != KindInjection && k != KindSessionStart && k != KindTurnEnd && k != KindSessionEnd
}

// storedEvent is an event as the content of a turn's entry stores it. Its texts are elsewhere in the content, and
// storedEvent contains only the numbers of these texts, counted from 1.
type storedEvent struct {
	Event
	// number of the text in the turn's content that is the event's Text (0 if this object contains the text)
	TextNumber       int `json:"t,omitempty"`
	OutputTextNumber int `json:"o,omitempty"` // number of the text that is the call's Output (0 without an Output)
}

// turnMetadataEncoding encodes the last line of a turn's content, which contains all data besides the readable texts.
// Each character encodes five bits.
var turnMetadataEncoding = base32.NewEncoding("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").WithPadding(base32.NoPadding)

var errNotTurn = errors.New("not the content of a turn")

// Content returns the turn as the content of an entry.
func (t *Turn) Content() string {
	m := turnMetadata{Client: t.Client, Session: t.Session, TurnNumber: t.Number, ID: t.PromptID, Start: t.StartTime}
	var b strings.Builder
	at := map[string]int{"": 0}
	put := func(head, s string) {
		if _, ok := at[s]; ok {
			return
		}
		b.WriteString(head + s + textSeparator)
		m.PrefixAndTextLengths = append(m.PrefixAndTextLengths, [2]int{len(head), len(s)})
		at[s] = len(m.PrefixAndTextLengths)
	}
	both := [][]Event{t.Events, t.unmergedReports}
	for _, k := range []EventKind{KindPrompt, KindText, KindTitle} {
		for _, es := range both {
			for i := range es {
				if es[i].Kind == k {
					put(textPrefixesByKind[k], es[i].Text)
				}
			}
		}
	}
	for _, es := range both {
		for i := range es {
			if es[i].Kind.hasShownText() {
				put("", es[i].Text)
			}
			if c := es[i].Call; c != nil {
				put("", c.Output)
			}
		}
	}
	m.Events = make([]storedEvent, 0, len(t.unmergedReports))
	for _, e := range t.unmergedReports {
		r := storedEvent{Event: e}
		r.Client, r.Session = "", ""
		if e.Kind.hasShownText() {
			r.TextNumber, r.Text = at[e.Text], ""
		}
		if c := e.Call; c != nil {
			d := *c
			r.OutputTextNumber, d.Output, r.Call = at[c.Output], "", &d
		}
		m.Events = append(m.Events, r)
	}
	return b.String() + turnMetadataPrefix + compressTurnMetadata(&m) + turnMetadataSuffix
}

// splitTurnContent splits the content of a stored conversation turn. The result textsPart contains all lines before the
// last line. The result encodedMetadata is the last line without turnMetadataPrefix and turnMetadataSuffix. If the last
// line does not have this prefix and suffix, ok is false and textsPart is the whole content.
func splitTurnContent(content string) (textsPart, encodedMetadata string, ok bool) {
	body, ok := strings.CutSuffix(content, turnMetadataSuffix)
	i := strings.LastIndexByte(body, '\n') + 1
	if !ok || !strings.HasPrefix(body[i:], turnMetadataPrefix) {
		return content, "", false
	}
	return body[:i], body[i+len(turnMetadataPrefix):], true
}

// ReadableText returns the readable texts in a turn's content. It removes the last line, in which the turn's remaining
// data are encoded.
func ReadableText(content string) string {
	texts, _, _ := splitTurnContent(content)
	return strings.TrimRight(texts, "\n")
}

// ParseTurn decodes a turn from the content of an entry. The error matches errNotTurn if the content does not contain
// a turn.
func ParseTurn(content string) (Turn, error) {
	texts, last, ok := splitTurnContent(content)
	if !ok {
		return Turn{}, errNotTurn
	}
	var m turnMetadata
	if err := decompressTurnMetadata(last, &m); err != nil {
		return Turn{}, fmt.Errorf("%w: %v", errNotTurn, err)
	}
	all := []string{""}
	for _, n := range m.PrefixAndTextLengths {
		head, size := n[0], n[1]
		if !isLongEnoughForText(texts, head, size) || !strings.HasPrefix(texts[head+size:], textSeparator) {
			return Turn{}, fmt.Errorf("%w: it was edited", errNotTurn)
		}
		all = append(all, texts[head:head+size])
		texts = texts[head+size+len(textSeparator):]
	}
	t := Turn{Client: m.Client, Session: m.Session, Number: m.TurnNumber, PromptID: m.ID, StartTime: m.Start}
	for _, r := range m.Events {
		isNumber := min(r.TextNumber, r.OutputTextNumber) >= 0 && max(r.TextNumber, r.OutputTextNumber) < len(all)
		if !isNumber {
			return Turn{}, fmt.Errorf("%w: a text is missing", errNotTurn)
		}
		e := r.Event
		e.Client, e.Session = m.Client, m.Session
		// If TextNumber is positive, the event's text is in the part of the content that people can read. Earlier
		// versions also stored the texts of session starts and ends there.
		if r.TextNumber > 0 {
			e.Text = all[r.TextNumber]
		}
		if e.Call != nil {
			e.Call.Output = all[r.OutputTextNumber]
		}
		t.unmergedReports = append(t.unmergedReports, e)
	}
	t.deriveEventsFromReports()
	return t, nil
}

// isLongEnoughForText reports whether the string texts has at least prefixSize+textSize bytes. This length is enough
// for a text of textSize bytes after a prefix of prefixSize bytes. The result is false if prefixSize or textSize is
// negative.
func isLongEnoughForText(texts string, prefixSize, textSize int) bool {
	if prefixSize < 0 || textSize < 0 {
		return false
	}
	return prefixSize <= len(texts) && textSize <= len(texts)-prefixSize
}

// ReadCompressedTexts returns the texts that the content of a stored turn contains only in its compressed last line,
// where people cannot read them. These texts are the texts that hooks inserted, and the URL or search query of each
// tool call ("" if the call has none). ReadCompressedTexts returns nil if the content does not contain a turn.
func ReadCompressedTexts(content string) (texts []string) {
	t, _ := ParseTurn(content)
	for _, e := range t.unmergedReports {
		if e.Kind == KindInjection {
			texts = append(texts, e.Text)
		}
		if e.Call != nil {
			texts = append(texts, e.Call.WebQuery)
		}
	}
	return texts
}

// turnMetadataCompressor contains a buffer, a compressor and a decompressor, which are reused because they are
// expensive to allocate.
type turnMetadataCompressor struct {
	buf          bytes.Buffer
	compressor   *flate.Writer
	decompressor io.ReadCloser
}

var turnMetadataCompressors = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.DefaultCompression) // Ignore the error: the compression level is valid.
	return &turnMetadataCompressor{compressor: w, decompressor: flate.NewReader(nil)}
}}

// compressTurnMetadata encodes the metadata as JSON, compresses the JSON, and returns the result as text.
func compressTurnMetadata(m *turnMetadata) string {
	p := turnMetadataCompressors.Get().(*turnMetadataCompressor)
	defer turnMetadataCompressors.Put(p)
	p.buf.Reset()
	p.compressor.Reset(&p.buf)
	b, _ := json.Marshal(m)      // Ignore the error: texts, numbers and valid times can always be encoded.
	_, _ = p.compressor.Write(b) // Ignore the error: writing to a buffer never fails.
	_ = p.compressor.Close()
	return turnMetadataEncoding.EncodeToString(p.buf.Bytes())
}

// decompressTurnMetadata decodes a text that compressTurnMetadata returned into m.
func decompressTurnMetadata(s string, m *turnMetadata) error {
	b, err := turnMetadataEncoding.DecodeString(s)
	if err != nil {
		return err
	}
	p := turnMetadataCompressors.Get().(*turnMetadataCompressor)
	defer turnMetadataCompressors.Put(p)
	if err := p.decompressor.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return err
	}
	p.buf.Reset()
	if _, err := p.buf.ReadFrom(io.LimitReader(p.decompressor, maxTurnMetadataBytes)); err != nil {
		return err
	}
	return json.Unmarshal(p.buf.Bytes(), m)
}
