// This file has functions that several verbs share: for filters, limits, and advice if a name or a
// query finds nothing.

package verb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/syntax"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// snippetWidth is the width of a snippet in bytes, about 40 tokens.
const snippetWidth = 160

var snippet = text.Snippet

// And returns the filter that combines a filter with all parameters.
func (n Narrowing) And(filter string, now time.Time) (oxbow.Filter, error) {
	f, err := query.ParseFilter(filter, now)
	if err != nil {
		return oxbow.Filter{}, err
	}
	for _, p := range labelParams {
		if p.selected == nil {
			continue
		}
		for _, v := range p.selected(n) {
			if err := (oxbow.Label{Key: p.key, Value: v}).Check(); err != nil {
				return oxbow.Filter{}, err
			}
			f.Terms = append(f.Terms, oxbow.Term{Key: p.key, Values: []string{v}})
		}
	}
	if n.Kind != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: "kind", Values: []string{n.Kind}})
	}
	for _, bound := range [][2]string{{"after", n.After}, {"before", n.Before}, {"until", n.Until}} {
		bounds, err := TimeFilter(bound[0], bound[0], bound[1], now)
		if err != nil {
			return oxbow.Filter{}, err
		}
		f = f.And(bounds)
	}
	return f, nil
}

// TimeFilter returns the filter for a date and a key that [query.TimeFilter] accepts. An empty date
// selects everything. An error names the parameter that has the date.
func TimeFilter(param, key, date string, now time.Time) (oxbow.Filter, error) {
	if date == "" {
		return oxbow.Filter{}, nil
	}
	f, err := query.TimeFilter(key, date, now)
	if invalid, ok := errors.AsType[*oxbow.InvalidError](err); ok {
		return f, InvalidValue(param, date, invalid.Reason)
	}
	return f, err
}

// ResolveLimit returns the limit to use, and a note if it differs from the given limit.
func ResolveLimit(given *int, standard int) (limit int, notes []Note, err error) {
	switch {
	case given == nil:
		return standard, nil, nil
	case *given < 1:
		return 0, nil, InvalidValue(
			"limit",
			strconv.Itoa(*given),
			fmt.Sprintf("would return nothing; give 1 to %d, or leave it out for %d", oxbow.MaxLimit, standard),
		)
	case *given > oxbow.MaxLimit:
		return oxbow.MaxLimit, []Note{
			Notef("limit %d was lowered to %d, the most there is", *given, oxbow.MaxLimit),
		}, nil
	}
	return *given, nil, nil
}

// checkIfVersion refuses 0, which the library would read as any version.
func checkIfVersion(v *uint64) error {
	if v != nil && *v == 0 {
		return InvalidValue(
			"if_version",
			"0",
			"is no version; take the version from an earlier answer, or leave it out",
		)
	}
	return nil
}

// NotNil returns an empty slice instead of nil, so that JSON has a list.
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// nearNames returns at most limit names and aliases of entries that are similar to name, the best
// first.
func nearNames(ctx context.Context, m *oxbow.Memory, name string, limit int) ([]string, error) {
	var err error
	near := text.FindSimilar(name, func(yield func(string) bool) {
		err = eachName(ctx, m, func(e *oxbow.Entry) bool {
			if !e.MayShow(oxbow.BySearch) {
				return true
			}
			for _, alias := range e.Aliases {
				if !yield(alias) {
					return false
				}
			}
			return yield(e.Name)
		}, oxbow.BySearch.HeldLabels()...)
	}, limit)
	return near, err
}

// eachName calls fn with the name, aliases and the labels with some keys of each entry, until fn
// returns false. It may call fn again for the same entries. It reads few entries if the store has
// the names apart.
func eachName(ctx context.Context, m *oxbow.Memory, fn func(e *oxbow.Entry) bool, keys ...string) error {
	asked := heads.Needs{Keys: append(keys, oxbow.HeadName)}
	more := true
	return heads.View(ctx, m.Store(), asked, func(all heads.List) error {
		for h, err := range all.All {
			if err != nil {
				return err
			}
			more = more && fn(h.Entry)
			if !more {
				break
			}
		}
		return nil
	})
}

// lostError reports an unknown name, with information that may help to find the entry.
type lostError struct {
	err           error
	name          string
	near          []string
	removed, last uint64   // change that removed the entry, and its version before (0 if unknown)
	versions      []string // existing versions that NAME@SEQ could mean, newest first
}

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

func (e *lostError) remedy() Note {
	var ns []Note
	switch {
	case e.last != 0:
		ns = append(ns, Notef("it was forgotten by change %d; %s", e.removed,
			&Hint{Verb: "restore", Args: []Arg{{"name", e.name}, {"seq", e.last}}, Does: "brings it back"}))
	case e.removed != 0:
		ns = append(ns, Notef("it was forgotten by change %d", e.removed))
	}
	if len(e.versions) > 0 {
		ns = append(
			ns,
			Notef("there is %s; %s shows all versions", strings.Join(e.versions, ", "), VerbRef("history")),
		)
	} else if len(e.near) > 0 {
		ns = append(ns, Plain("nearest names: "+text.QuoteAll(e.near)))
	} else if e.removed == 0 {
		ns = append(
			ns,
			Notef(
				"no name is near to it; %s searches what the entries say, %s shows what there is",
				VerbRef("recall"),
				VerbRef("list"),
			),
		)
	}
	return JoinNotes(ns)
}

// diagnose returns at least one reason why a query found nothing, and similar names.
func diagnose(
	ctx context.Context,
	m *oxbow.Memory,
	q oxbow.Query,
	dates TypedDates,
) (why []Note, near []string, err error) {
	g, err := m.Diagnose(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if g.Entries == 0 && q.AsOf != 0 {
		return []Note{Notef("the memory held no entries after change %d", q.AsOf)}, nil, nil
	}
	if g.Entries == 0 {
		return []Note{Plain("the memory holds no entries yet; remember adds the first")}, nil, nil
	}
	return EmptyReasons(g, q, dates, "entry", "entries"), g.Near, nil
}

// EmptyReasons returns the reasons why a query found nothing. The arguments one and many are the singular and the
// plural of the noun for the searched items, such as "entry" and "entries". A time range is named as in dates.
func EmptyReasons(g oxbow.Diagnosis, q oxbow.Query, dates TypedDates, one, many string) (why []Note) {
	if g.StopWords {
		why = append(why, noWordsNote(q.Text))
	}
	var unknown, known []string
	for _, t := range g.Terms {
		if t.DF == 0 {
			unknown = append(unknown, strconv.Quote(t.Word))
		} else {
			known = append(known, fmt.Sprintf("%q in %s", t.Word, text.Count(t.DF, one, many)))
		}
	}
	if len(unknown) > 0 {
		why = append(why, Plain("no "+one+" holds "+joinFirst(unknown)))
	}
	if len(known) > 0 {
		why = append(why, Plain("found, before the filter: "+joinFirst(known)))
	}
	for _, r := range g.Removed[:min(len(g.Removed), mostNamed)] {
		part := cmp.Or(r.Clause, dates.filterText(r.Filter))
		switch {
		// the words would find nothing even without the filter
		case r.Left == 0 && g.Unfiltered == 0 && len(g.Terms) > 0:
		case r.Left == 0:
			why = append(why, Notef("filter %s alone removes all that was found", part))
		default:
			why = append(why, Notef("filter %s alone leaves %s", part, text.Count(r.Left, one, many)))
		}
	}
	why = append(why, notLabels(g)...)
	if g.Unfiltered > 0 && !q.Filter.IsZero() {
		n := text.Count(g.Unfiltered, one, many)
		if g.Unfiltered == oxbow.MaxLimit {
			n += " or more"
		}
		why = append(why, Notef("without the filter %s, %s would be found", dates.filterText(q.Filter), n))
	}
	if len(why) == 0 {
		why = append(why, Notef("none of the %s matches", text.Count(g.Entries, one, many)))
	}
	return why
}

// notLabels returns hints about filter terms that select by a label and match no entry. A hint is added if the term's
// key resembles a key of the filter language, or if the term's value is a date, because such a term is probably a
// mistake.
func notLabels(g oxbow.Diagnosis) (hints []Note) {
	for _, r := range g.Removed {
		if r.Left > 0 || len(r.Filter.Terms) == 0 {
			continue
		}
		t := r.Filter.Terms[0]
		if syntax.IsKnown(t.Key) || len(t.Values) == 0 {
			continue
		}
		if near := syntax.NearestKey(t.Key); near != "" {
			hints = append(hints, Notef("%s is no word of filters, so it is taken as a label; did you mean %s:%s?",
				t.Key, near, t.Values[0]))
			continue
		}
		// Any time will do, because only the form of the date counts.
		if _, err := query.TimeFilter("on", t.Values[0], time.Unix(0, 0)); err == nil {
			hints = append(
				hints,
				Notef("%s is taken as a label; on:%s, after:%s and before:%s select by the time of the "+
					"last change", t.Key, t.Values[0], t.Values[0], t.Values[0]),
			)
		}
	}
	return hints
}

// TypedDates contains the filter terms that select by time, as the caller typed them, such as on:yesterday.
type TypedDates []typedDate

// typedDate is such a term with its time range.
type typedDate struct {
	term  string
	times oxbow.Filter
}

// Dates returns the filter terms by time in the texts, which are queries and filters, and in the parameters.
func (n Narrowing) Dates(now time.Time, texts ...string) (dates TypedDates) {
	terms := strings.Fields(strings.Join(texts, " "))
	for _, bound := range [][2]string{{"after", n.After}, {"before", n.Before}, {"until", n.Until}} {
		if bound[1] != "" {
			terms = append(terms, bound[0]+":"+bound[1])
		}
	}
	for _, term := range terms {
		key, date, _ := strings.Cut(term, ":")
		if f, err := query.TimeFilter(key, date, now); err == nil {
			dates = append(dates, typedDate{term, f})
		}
	}
	return dates
}

// filterText returns a filter in the form that people type. A time range has the words of the caller if
// they are known. Otherwise a range of a single day becomes on:2026-11-27, and other bounds at midnight become
// dates.
func (dates TypedDates) filterText(f oxbow.Filter) string {
	parts := []string{oxbow.Filter{Terms: f.Terms}.Brief()}
	for _, d := range dates {
		hasAfter := d.times.After.IsZero() || d.times.After.Equal(f.After)
		hasBefore := d.times.Before.IsZero() || d.times.Before.Equal(f.Before)
		if !hasAfter || !hasBefore {
			continue
		}
		parts = append(parts, d.term)
		if !d.times.After.IsZero() {
			f.After = time.Time{}
		}
		if !d.times.Before.IsZero() {
			f.Before = time.Time{}
		}
	}
	switch {
	case !f.After.IsZero() && f.Before.Equal(f.After.AddDate(0, 0, 1)) && isMidnight(f.After):
		parts = append(parts, "on:"+f.After.Format(time.DateOnly))
	default:
		parts = append(parts, boundText("after:", f.After), boundText("before:", f.Before))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// boundText returns a bound of a time range, or "" if there is none.
func boundText(key string, at time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case isMidnight(at):
		return key + at.Format(time.DateOnly)
	}
	return key + at.UTC().Format(time.RFC3339Nano)
}

// isMidnight reports whether a time is the beginning of a day.
func isMidnight(t time.Time) bool {
	return t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0
}

// noWordsNote explains why a query contains no word to search for.
func noWordsNote(query string) Note {
	if !hasWords(query) {
		return Plain("the query has no letters, digits or emoji; other signs are not searched")
	}
	return Plain(
		"the query holds only words that are too common or too short to look for; use rarer words, or list with a " +
			"filter",
	)
}

// hasWords reports whether a text has a letter or a digit.
func hasWords(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// mostNamed is the maximum number of the query's words or terms that an answer
// names.
const mostNamed = 10

// joinFirst joins the first words with commas, at most mostNamed, and adds the number of omitted words.
func joinFirst(words []string) string {
	if more := len(words) - mostNamed; more > 0 {
		return strings.Join(words[:mostNamed], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(words, ", ")
}

func pluralIs(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return strconv.Itoa(n) + " " + what + "s are"
}

// DefaultListLimit is the default number of items returned by list and history.
const DefaultListLimit = 20

func InvalidValue(field, value, reason string) error {
	return &oxbow.InvalidError{Field: field, Value: text.Clip(value, 60), Reason: strings.TrimSuffix(reason, ".")}
}

// lowerFirst returns a sentence with a lower-case first letter, for use after other words.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
