// Package report describes the answer to a call, so that each interface can print the answer in its own form. A report
// is a list of sections: sentences, records and tables. Their cells contain values, and the type of a value says
// whether the text is oxbow's own or was written by others. Each interface has one renderer, which lays out a report
// for a terminal, a model or a page. The renderer makes text by others safe to display, so that no verb can forget to
// do so.
package report

import (
	"fmt"
	"io"
	"strconv"
	"time"
)

// Report describes the answer to a call.
type Report struct {
	Sections []Section
	Notes    []Sentence // facts that are not the answer itself, such as how to undo the change
	Warnings []Sentence // problems that occurred during the call. Even a short report shows them.
}

// Reporter is an answer that can describe itself as a report.
type Reporter interface{ Report() Report }

// Section is a part of a report: a [Line], a [Record], [Fields], a [Table], a [List], a [Finding], [EmptyResultReasons]
// or a [TextForModel].
type Section interface{ isSection() }

// Line is a sentence on a separate line.
type Line struct {
	Sentence
	Indent           int  // number of spaces before the line's sentence
	IsDetail         bool // a short report omits the line
	IsFaint          bool // the line is less important than other lines, so a terminal shows it faintly
	MayBeCut         bool // a terminal may cut the line instead of wrapping it, because the beginning is enough
	ShortReportValue any  // a short report shows this value instead of the sentence, unless it is nil
}

// Record describes one thing, such as an entry or a proposal.
type Record struct {
	// value that identifies the entry or other thing. A short report shows only this value, or nothing if it is nil.
	Key            any
	Title          any    // reports show this value instead of the key, unless it is nil
	Cells          []Cell // values that are shown next to Key or Title
	TextCellsBelow []Cell // texts that are shown on separate lines below Cells

	// Effect describes the call's effect on the thing, for example "forgot NAME". If Effect is not empty, reports show
	// it instead of the key. A terminal then shows only Effect and the number of the change, because the user named
	// the thing.
	Effect        Sentence
	WrittenChange ChangeNumber // change of the memory that the command or tool call made

	// DescribedValue is the value that the report describes. A terminal may show values of this type in a special
	// layout.
	DescribedValue any
}

// Cell is a value with its name.
type Cell struct {
	Name    string // name that is shown with Value ("" if Value needs no name)
	Value   any
	IsFaint bool // the cell is less important than other cells, so a terminal shows it faintly
}

// Table is a list of rows with the same columns. The first cell identifies the row, and a short report shows only this
// cell. If neighbouring rows have the same first cell, a short report shows the cell once.
type Table struct {
	Columns []string // names of the columns, or nil for a table without a header
	Rows    [][]any
	// a terminal wraps the last column instead of cutting it, because the column contains sentences
	WrapsLastColumn bool
}

// Finding is the result of one check. A call may make several checks. A short report omits findings that need no
// action.
type Finding struct {
	Level      FindingLevel
	Topic      OxbowText // the thing that the call checked
	TopicState any       // the state in which the call found Topic
	Remedy     OxbowText // advice to the reader about the problem, or ""
}

// FindingLevel is the importance of a finding: "ok", "unknown", "warning" or "problem".
type FindingLevel string

// NeedsAction reports whether somebody should do something about a finding of this level.
func (l FindingLevel) NeedsAction() bool { return l == "warning" || l == "problem" }

// Fields lists the properties of one thing, one on each line. Properties without a value are omitted.
type Fields struct {
	Cells []Cell
}

// List contains the report's sections for items of the same kind, such as found entries. It may be long.
type List struct {
	Items         []Section
	HasBlankLines bool // an empty line separates the items, because they contain long texts
	IsNumbered    bool // the items have numbers, because their order matters
	// ListAllAdvice says how to list all items. If ListAllAdvice is not empty, a renderer may shorten a long list. A
	// short report then omits all items, unless ShowsItemsInShortReport is set.
	ListAllAdvice           OxbowText
	ShowsItemsInShortReport bool // the caller asked for the items, so even a short report shows Items
}

// EmptyResultReasons explains why a result is empty.
type EmptyResultReasons struct {
	Sentences    []Sentence
	SimilarNames Names // names that are similar to the name that the caller asked for
}

// TextForModel is a text for a model that already marks the parts written by others, such as the opening of a session.
// Every interface shows the text unchanged.
type TextForModel string

func (Line) isSection()               {}
func (Record) isSection()             {}
func (Table) isSection()              {}
func (Fields) isSection()             {}
func (List) isSection()               {}
func (Finding) isSection()            {}
func (EmptyResultReasons) isSection() {}
func (TextForModel) isSection()       {}

func (r *Report) Add(sections ...Section) { r.Sections = append(r.Sections, sections...) }

// AddLinef adds a sentence on a separate line. The arguments are as for [Sentencef].
func (r *Report) AddLinef(format string, values ...any) {
	r.Add(Line{Sentence: Sentencef(format, values...)})
}

// AddDetailf is like AddLinef, but a short report omits the sentence.
func (r *Report) AddDetailf(format string, values ...any) {
	r.Add(Line{Sentence: Sentencef(format, values...), IsDetail: true})
}

// AddNotef adds a note. The arguments are as for [Sentencef].
func (r *Report) AddNotef(format string, values ...any) {
	r.Notes = append(r.Notes, Sentencef(format, values...))
}

// The type of a value says who wrote its text. An untyped string is text by others on one line.
type (
	// OxbowText is a text that oxbow wrote. It may contain commands.
	OxbowText string
	// EntryName is the name of an entry. Others chose it, so showing a name unchanged is not safe.
	EntryName string
	// Names are names of entries.
	Names []string
	// QuotedText is a text that oxbow did not write. It may have several lines.
	QuotedText string
	// Quote is a text like QuotedText that is marked as a quotation, because the caller did not ask for the text.
	Quote string
	// ChangeNumber is the number of the change that wrote a version. Reports of homes without numbered changes do not
	// show it.
	ChangeNumber uint64
	// QuotedLines are short texts that oxbow did not write. A sentence with QuotedLines shows each text on a separate
	// line below the sentence. In the format string of such a sentence, no space precedes the formatting verb for the
	// QuotedLines.
	QuotedLines []string
	// Labels are labels of entries. They are shown without quotation marks, because all characters are safe.
	Labels []string
)

// WordedValue is a value for which each interface of oxbow uses its own wording. An example is a note that names a
// parameter, because a parameter has different names in different interfaces.
type WordedValue interface{ WordingForModel() string }

// EffectVerb returns the verb that describes the effect of a call. In a dry run it returns dryRunVerb, such as "would
// remove". Otherwise it returns doneVerb, such as "removed".
func EffectVerb(dryRun bool, doneVerb, dryRunVerb string) OxbowText {
	if dryRun {
		return OxbowText(dryRunVerb)
	}
	return OxbowText(doneVerb)
}

// AddEmptyResultReasons adds two things to the report r: the reasons why the result of a call is empty, and the names
// in similarNames. These names are similar to the name that the caller searched for. Each element of reasonTexts is one
// reason. The element type N is usually a type of text. It may also be a [WordedValue], whose wording depends on the
// interface that shows the reason, such as a terminal.
func AddEmptyResultReasons[N any](r *Report, reasonTexts []N, similarNames []string) {
	reasons := EmptyResultReasons{SimilarNames: similarNames}
	for _, w := range reasonTexts {
		reasons.Sentences = append(reasons.Sentences, Sentencef("%s", w))
	}
	r.Add(reasons)
}

// AddNotes adds each element of notes to the report r as a note. The elements may have any type, for example
// [WordedValue], whose wording depends on the interface that shows the report.
func AddNotes[N any](r *Report, notes []N) {
	for _, n := range notes {
		r.AddNotef("%s", n)
	}
}

// Append adds the sections, notes and warnings of another report.
func (r *Report) Append(other Report) {
	r.Sections = append(r.Sections, other.Sections...)
	r.Notes = append(r.Notes, other.Notes...)
	r.Warnings = append(r.Warnings, other.Warnings...)
}

// Warnf adds a warning. The arguments are as for [Sentencef].
func (r *Report) Warnf(format string, values ...any) {
	r.Warnings = append(r.Warnings, Sentencef(format, values...))
}

// ParseTimeOrText converts a time in RFC 3339 format to a [time.Time], so that each interface can format it. If s is
// not such a time, ParseTimeOrText returns s.
func ParseTimeOrText(s string) any {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t
}

// Sentence is a text that oxbow wrote, with values whose text may be by others.
type Sentence struct {
	format string
	values []any
}

// IsEmpty reports whether the sentence does not contain text.
func (s Sentence) IsEmpty() bool { return s.format == "" }

// EndsWithQuotedLines reports whether the last value of the sentence is a [QuotedLines].
func (s Sentence) EndsWithQuotedLines() bool {
	if len(s.values) == 0 {
		return false
	}
	_, isLines := s.values[len(s.values)-1].(QuotedLines)
	return isLines
}

// Sentencef returns a sentence with values. The format is like a format of [fmt.Sprintf]. Numbers may have any verb.
// All other values must have the verb %s or %q.
func Sentencef(format string, values ...any) Sentence { return Sentence{format, values} }

// FormatWith returns the text of the sentence. The function write returns the text for each value that is not a
// number.
func (s Sentence) FormatWith(write func(value any) string) string {
	args := make([]any, len(s.values))
	for i, v := range s.values {
		switch v.(type) {
		case int, int64, uint64, float64:
			// Pass a number unchanged, because the format may contain verbs for numbers such as %d and %.2f.
			args[i] = v
		default:
			args[i] = computedTextValue{v, write}
		}
	}
	return fmt.Sprintf(s.format, args...)
}

// computedTextValue is a value whose text a function returns.
type computedTextValue struct {
	value any
	write func(any) string
}

// Format implements [fmt.Formatter]. It passes the value to the field write, a function that makes values safe to show.
// An exception is a string with the verb %q. Format quotes such a string itself, because a quoted string is already
// safe to show.
func (w computedTextValue) Format(f fmt.State, verb rune) {
	text, isString := w.value.(string)
	if verb == 'q' && isString {
		_, _ = io.WriteString(f, strconv.Quote(text))
		return
	}
	_, _ = io.WriteString(f, w.write(w.value))
}
