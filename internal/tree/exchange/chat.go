// This file reads chat logs, and files with the dates of chat sessions.

package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/rawjson"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// readChat reads chat logs with a session on each line, in the format of LongMemEval and many other exports:
//
//	{"id":"s1","turns":[["user","Hello"],["assistant","Hello!"]]}
//	{"session_id":"s2","date":"2023-04-30","messages":[{"role":"user","content":"Hello"}]}
//
// A file can also contain a turn on each line, such as {"role":"user","content":"Hello"}. All such lines in a file are
// the turns of a single session. The ID of this session is the name of the file without its extension.
//
// Each session becomes an entry of the kind archive. The entry's name is the session's ID, and the content consists of
// the turns: "user: Hello\n\nassistant: Hello!". If a message's content is a list of parts, only parts with the type
// text are used.
//
// The entry's creation time is the value of the session's field "date" or "created". If the session has neither field,
// the time comes from o.SessionDates. If o.SessionDates has no date for the session either, the time is zero, and the
// store uses the present time. Fields that an archive cannot store are listed in the item's warnings.
func readChat(r io.Reader, sourceName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var turns []json.RawMessage
		size := 0
		for l, err := range eachJSONObject(r, sourceName) {
			it := Item{Position: l.position, Origin: sourceName}
			if _, turn := l.fields.rawValue("role"); err == nil && turn {
				size += len(l.text)
				if size > maxGraphBytes {
					yield(
						Item{},
						fmt.Errorf(
							"reading %s: has more than the %d MiB of one session that are read; cut it",
							sourceName,
							maxGraphBytes>>20,
						),
					)
					return
				}
				_, _, _, err = parseTurn(l.text)
				if err == nil {
					turns = append(turns, slices.Clone(l.text))
					continue
				}
				err = newItemError(l.position, fmt.Errorf("turn %w", err))
			} else if err == nil {
				err = it.parseSession(l.fields, o)
				if err != nil {
					err = newItemError(l.position, err)
				}
			}
			if err != nil {
				if !yield(Item{}, err) {
					return
				}
			} else if !yieldItem(yield, it) {
				return
			}
		}
		if len(turns) > 0 {
			it := Item{Position: lineRef(sourceName, 1), Origin: sourceName}
			it.Entry.Kind = oxbow.Archive
			it.Entry.Name, _ = titleFromFileName(sourceName)
			if o != nil {
				it.Entry.Created = o.SessionDates[it.Entry.Name]
			}
			it.setContentFromTurns(turns)
			yieldItem(yield, it)
		}
	}
}

// setContentFromTurns sets the item's content to the text of the turns. It adds a message to it.LossMessages if parts
// of the turns are not in this text, or if the turns cannot be read.
func (it *Item) setContentFromTurns(turns []json.RawMessage) {
	raw, err := json.Marshal(turns)
	if err == nil {
		var left []string
		it.Entry.Content, it.ConversationText, left, err = formatSessionTurns(raw)
		it.LossMessages = omittedFieldsWarning(it.Position, left)
	}
	if err != nil {
		it.LossMessages = append(it.LossMessages, it.Position+": "+err.Error())
	}
}

// parseSession fills the item with the session that the fields of a line in a chat log describe. If the line contains
// no date, it uses the session's date in o.SessionDates. It returns an error if the session has no ID or no turns, or
// if a field is invalid.
func (it *Item) parseSession(fields jsonObject, o *ReadOptions) (err error) {
	e := &it.Entry
	e.Kind = oxbow.Archive
	e.Name, err = readEitherField(fields, "id", "session_id", jsonObject.textOrNumber)
	if err != nil {
		return err
	}
	if e.Name == "" {
		return errors.New("session has no id")
	}
	date, err := readEitherField(fields, "date", "created", jsonObject.textValue)
	if err != nil {
		return err
	}
	switch {
	case date != "":
		e.Created, err = parseDate(date, o.location())
		if err != nil {
			return err
		}
	case o != nil:
		e.Created = o.SessionDates[e.Name]
	}
	raw, ok := fields.rawValue("turns")
	if other, both := fields.rawValue("messages"); both {
		if ok {
			return errors.New("session has both turns and messages")
		}
		raw, ok = other, true
	}
	if !ok {
		return errors.New("session has no turns")
	}
	var left []string
	e.Content, it.ConversationText, left, err = formatSessionTurns(raw)
	if err != nil {
		return err
	}
	known := []string{"id", "session_id", "date", "created", "turns", "messages"}
	it.LossMessages = omittedFieldsWarning(it.Position, slices.Concat(fields.otherFields(known), left))
	return nil
}

// readEitherField returns the value of the field firstName or secondName, or "" if the object has neither. If it has
// both, their values must be equal. The function get returns the value of a field.
func readEitherField(
	o jsonObject,
	firstName, secondName string,
	get func(jsonObject, string) (string, error),
) (string, error) {
	va, err := get(o, firstName)
	if err != nil {
		return "", err
	}
	vb, err := get(o, secondName)
	switch {
	case err != nil:
		return "", err
	case va == "":
		return vb, nil
	case vb != "" && va != vb:
		return "", fmt.Errorf(
			"%s %s and %s %s differ",
			firstName,
			truncateAndQuote(va),
			secondName,
			truncateAndQuote(vb),
		)
	}
	return va, nil
}

// textOrNumber returns the value of a field that is a string or a number, as a string.
func (o jsonObject) textOrNumber(key string) (string, error) {
	if raw, ok := o.rawValue(key); ok && strings.IndexByte("-0123456789", raw[0]) >= 0 {
		return string(raw), nil
	}
	return o.textValue(key)
}

// formatSessionTurns returns the turns of a session as text. In content, each turn begins with the role of the speaker.
// The result textWithoutRoles contains the same turns, but the roles in usualRoles are omitted. In both texts,
// [text.HidePrivateParts] replaces the private parts of a person's messages by a mark. omittedFields lists the fields
// of the turns that are not in the text, at most maxObjectFields fields. formatSessionTurns returns an error if raw is
// not a list, contains no turns, or contains an invalid turn.
func formatSessionTurns(raw json.RawMessage) (content, textWithoutRoles string, omittedFields []string, err error) {
	if raw[0] != '[' {
		return "", "", nil, fmt.Errorf("turns must be a list, not %s", truncateAndQuote(string(raw)))
	}
	var b, texts strings.Builder
	n := 0
	for t := range rawjson.EachElement(raw) {
		n++
		role, said, more, err := parseTurn(t)
		if err != nil {
			return "", "", nil, fmt.Errorf("turn %d %w", n, err)
		}
		for _, f := range more {
			f = "turn's " + f
			if !slices.Contains(omittedFields, f) && len(omittedFields) < maxObjectFields {
				omittedFields = append(omittedFields, f)
			}
		}
		if n > 1 {
			b.WriteString("\n\n")
		}
		if role == "user" || role == "human" {
			said = text.HidePrivateParts(said)
		}
		turn := role + ":"
		if said != "" {
			turn += " " + said
		}
		b.WriteString(turn)
		if slices.Contains(usualRoles, strings.ToLower(role)) {
			turn = said
		}
		texts.WriteString(turn + "\n\n")
	}
	if n == 0 {
		return "", "", nil, errors.New("session has no turns")
	}
	return b.String(), texts.String(), omittedFields, nil
}

// usualRoles are the common roles of persons and models in a chat log. Any other role becomes part of the spoken text,
// because a role may be any text.
var usualRoles = []string{"user", "human", "assistant", "ai", "model", "tool"}

// parseTurn parses a chat turn, which has the form [role, text] or {"role":…,"content":…}. omittedFields lists the
// object's other fields and the parts of the content that are not text.
func parseTurn(raw json.RawMessage) (role, message string, omittedFields []string, err error) {
	if raw[0] == '[' {
		pair, err := decodeList("of its parts", raw)
		if err != nil {
			return "", "", nil, fmt.Errorf("is not [role, text]: %w", err)
		}
		if len(pair) != 2 || pair[0] == "" {
			return "", "", nil, fmt.Errorf("is not [role, text]: %s", truncateAndQuote(string(raw)))
		}
		return pair[0], pair[1], nil, nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return "", "", nil, err
	}
	role, err = o.textValue("role")
	if err != nil {
		return "", "", nil, fmt.Errorf("is bad: %w", err)
	}
	if role == "" {
		return "", "", nil, errors.New("has no role")
	}
	omittedFields = o.otherFields([]string{"role", "content"})
	content, ok := o.rawValue("content")
	switch {
	case !ok:
		// The turn has no content, for example because it is a tool call. Return an empty message. The fields of the
		// turn are in omittedFields.
		return role, "", omittedFields, nil
	case content[0] == '[':
		said, more, err := joinMessageParts(content)
		return role, said, append(omittedFields, more...), err
	}
	message, err = o.textValue("content")
	if err != nil {
		return "", "", nil, fmt.Errorf("is bad: %w", err)
	}
	return role, message, omittedFields, nil
}

// joinMessageParts returns the texts of a message whose content is a list of parts, joined by line ends. Parts that are
// not texts, such as images, are left out. The result omittedFields contains the types of these parts.
func joinMessageParts(raw json.RawMessage) (text string, omittedFields []string, err error) {
	var texts []string
	for p := range rawjson.EachElement(raw) {
		o, err := parseObject(p)
		if err != nil {
			return "", nil, fmt.Errorf("has a part that %w", err)
		}
		typ, err := o.textValue("type")
		if err != nil {
			return "", nil, fmt.Errorf("has a bad part: %w", err)
		}
		if typ != "text" {
			omittedFields = append(omittedFields, "part of type "+truncateAndQuote(typ))
			continue
		}
		t, err := o.textValue("text")
		if err != nil {
			return "", nil, fmt.Errorf("has a bad part: %w", err)
		}
		texts = append(texts, t)
	}
	return strings.Join(texts, "\n"), omittedFields, nil
}

// readSessionDates reads LongMemEval's question file. Each line contains a list "haystack" with the IDs and dates of
// sessions:
//
//	{"question_id":"q1","haystack":[["s1","2023/04/30 (Sun) 13:59"]]}
//
// It adds the date of each session to the map dates. The keys are session IDs. If a session has several dates, it keeps
// the earliest, so that the order of the lines does not matter. Other fields are ignored. The returned sequence yields
// an [*ItemError] for each invalid line or date. It yields an error of another type as the last error if the file has
// too many dates or cannot be read.
func readSessionDates(r io.Reader, sourceName string, loc *time.Location, dates map[string]time.Time) iter.Seq[error] {
	return func(yield func(error) bool) {
		for l, err := range scanLines(r, sourceName) {
			if err != nil {
				if !yield(err) {
					return
				}
				continue
			}
			for _, err := range addSessionDates(l.text, loc, dates) {
				if errors.Is(err, errTooManySessions) {
					yield(fmt.Errorf("reading %s: %w", lineRef(sourceName, l.number), err))
					return
				}
				if !yield(newItemError(lineRef(sourceName, l.number), err)) {
					return
				}
			}
		}
	}
}

var errTooManySessions = fmt.Errorf("more than %d sessions", maxSessionsWithDates)

func addSessionDates(text []byte, loc *time.Location, dates map[string]time.Time) (lineErrors []error) {
	o, err := parseLine(text)
	if err != nil {
		return []error{err}
	}
	raw, ok := o.rawValue("haystack")
	if !ok {
		return []error{errors.New("has no haystack")}
	}
	if raw[0] != '[' {
		return []error{fmt.Errorf("haystack must be a list, not %s", truncateAndQuote(string(raw)))}
	}
	n := 0
	for p := range rawjson.EachElement(raw) {
		n++
		pair, err := decodeList("haystack", p)
		if err == nil && len(pair) != 2 {
			err = fmt.Errorf("is not [session id, date]: %s", truncateAndQuote(string(p)))
		}
		var t time.Time
		if err == nil {
			t, err = parseDate(pair[1], loc)
		}
		if err != nil {
			lineErrors = append(lineErrors, fmt.Errorf("session %d of the haystack: %w", n, err))
			continue
		}
		have, ok := dates[pair[0]]
		if !ok && len(dates) == maxSessionsWithDates {
			return append(lineErrors, errTooManySessions)
		}
		if !ok || t.Before(have) {
			dates[pair[0]] = t
		}
	}
	return lineErrors
}
