// This file parses profiles. For each mistake, it reports the line, and a suggestion if possible.

package profile

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/scope"
)

// maxProfileBytes is the maximum size of a profile's file in bytes.
const maxProfileBytes = frontmatter.MaxFrontMatterBytes

// A Diagnostic is a mistake in a file.
type Diagnostic = frontmatter.Diagnostic

// Diagnostics contains all mistakes in a file in the order of their lines. It is also an error, which matches
// [oxbow.ErrInvalid].
type Diagnostics []Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Is reports whether the target is [oxbow.ErrInvalid].
func (Diagnostics) Is(target error) bool { return target == oxbow.ErrInvalid }

// parse parses a profile. The parameter file is the path for messages. Its base name without the extension is the name
// of the profile. Dates are in the given time zone, or in UTC if zone is nil. The error is a [Diagnostics].
func parse(file string, data []byte, zone *time.Location) (*Profile, error) {
	if zone == nil {
		zone = time.UTC
	}
	r := &profileReader{
		MappingReader: frontmatter.MappingReader{File: file},
		zone:          zone,
		profile:       &Profile{File: file, lineNumbers: map[string]int{}},
	}
	switch n := r.ReadMapping(string(data)); {
	case n == nil:
	case n.Line == 0:
		r.AddNodeDiagnostic(nil, "is empty; a profile has at least a description or an include")
	case n.Kind != yaml.MappingNode:
		r.AddNodeDiagnostic(
			n,
			"is %s; a profile is lines such as \"description: …\" and \"include:\"",
			frontmatter.DescribeKind(n),
		)
	default:
		r.parseProfile(n)
	}
	if r.profile.Name == "" {
		r.profile.Name = profileNameOfFile(file)
		if err := CheckName(r.profile.Name); err != nil && len(r.Diagnostics) == 0 {
			r.AddNodeDiagnostic(nil, "the file's %v", err)
		}
	}
	if len(r.Diagnostics) > 0 {
		slices.SortStableFunc(r.Diagnostics, func(a, b Diagnostic) int {
			return 1000*(a.Line-b.Line) + a.Column - b.Column
		})
		return nil, Diagnostics(r.Diagnostics)
	}
	return r.profile, nil
}

// profileNameOfFile returns the name of the profile in a file.
func profileNameOfFile(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml")
}

type profileReader struct {
	frontmatter.MappingReader
	zone    *time.Location
	profile *Profile
}

// These are the keys that a profile may have, and the words that people often write instead of a key.
var (
	topLevelKeys = []string{"name", "description", "extends", "include", "exclude", "always_include", "max_tokens",
		"process", "redact"}
	choiceKeys  = []string{"projects", "tags", "kinds", "related_files", "date_range", "entries"}
	keySynonyms = map[string]string{
		"title": "name", "inherits": "extends", "base": "extends", "parents": "extends", "budget": "max_tokens",
		"tokens": "max_tokens", "documents": "always_include", "always": "always_include", "files": "related_files",
		"dates": "date_range", "labels": "tags", "names": "entries", "memories": "entries", "types": "kinds",
		"filter": "include", "omit": "exclude", "skip": "exclude", "about": "description",
		"redactions": "redact", "mask": "redact", "hide": "redact",
	}
)

// eachKey calls fn for each key in the list knownKeys that the mapping n contains. If a key is repeated, eachKey calls
// fn only the first time. It reports unknown and repeated keys, and keys that are not scalars, as mistakes.
func (r *profileReader) eachKey(
	n *yaml.Node,
	location string,
	knownKeys []string,
	fn func(key string, k, v *yaml.Node),
) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			r.AddNodeDiagnostic(k, "%s cannot be a key", frontmatter.DescribeKind(k))
			continue
		}
		key := k.Value
		if line := seen[key]; line > 0 {
			r.AddNodeDiagnostic(k, "%s is given twice; it stands in line %d too", key, line)
			continue
		}
		seen[key] = k.Line
		if !slices.Contains(knownKeys, key) {
			r.reportUnknownKey(k, location, knownKeys)
			continue
		}
		fn(key, k, v)
	}
}

func (r *profileReader) reportUnknownKey(k *yaml.Node, location string, knownKeys []string) {
	key := k.Value
	what := "unknown key " + strconv.Quote(frontmatter.ShortenValue(key))
	if location != "" {
		what += " in " + location
	}
	norm := strings.ReplaceAll(strings.ToLower(key), "-", "_")
	near := text.FindSimilar(norm, slices.Values(knownKeys), 1)
	switch other := keySynonyms[norm]; {
	case key == "<<":
		r.AddNodeDiagnostic(k, "<< merges another mapping, which is refused here; use extends")
	case slices.Contains(knownKeys, other):
		r.AddNodeDiagnostic(k, "%s; did you mean %s?", what, other)
	case len(near) > 0:
		r.AddNodeDiagnostic(k, "%s; did you mean %s?", what, near[0])
	case location == "" && slices.Contains(choiceKeys, norm):
		r.AddNodeDiagnostic(k, "%s; it belongs below include or exclude", what)
	case location != "" && slices.Contains(topLevelKeys, norm):
		r.AddNodeDiagnostic(k, "%s; it stands at the top, not below %s", what, location)
	default:
		r.AddNodeDiagnostic(k, "%s; there are %s", what, strings.Join(knownKeys, ", "))
	}
}

func (r *profileReader) parseProfile(n *yaml.Node) {
	p := r.profile
	r.eachKey(n, "", topLevelKeys, func(key string, k, v *yaml.Node) {
		p.lineNumbers[key] = k.Line
		switch key {
		case "name":
			p.Name = r.readName(v)
		case "description":
			p.Description = r.readSingleValue(key, v)
			if len(p.Description) > 1000 {
				r.AddNodeDiagnostic(v, "description has %d bytes; the most is 1000", len(p.Description))
			}
		case "extends":
			if v.Kind == yaml.ScalarNode && !frontmatter.IsNull(v) {
				v = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}, Line: v.Line, Column: v.Column}
			}
			p.Extends = r.readNonEmptyList(key, v, CheckName)
		case "include":
			p.Include = r.parseChoice(key, v)
		case "exclude":
			p.Exclude = r.parseChoice(key, v)
		case "always_include":
			p.Always = r.readList(key, v, checkDocument)
		case "max_tokens":
			p.MaxTokens = r.readNumber(key, v)
		case "process":
			p.Process = r.readBool(key, v)
		case "redact":
			p.Redact = r.readRedactedKinds(key, v)
		}
	})
}

func (r *profileReader) readName(v *yaml.Node) string {
	name := r.readSingleValue("name", v)
	if name == "" {
		return profileNameOfFile(r.File)
	}
	if err := CheckName(name); err != nil {
		r.AddNodeDiagnostic(v, "%v", err)
	} else if base := profileNameOfFile(r.File); base != name {
		r.AddNodeDiagnostic(v, "name %q is not that of the file, %q; make them the same", name,
			frontmatter.ShortenValue(base))
	}
	return name
}

// readSingleValue returns the value of a key that must have a single value.
func (r *profileReader) readSingleValue(key string, v *yaml.Node) string {
	if v.Kind != yaml.ScalarNode || frontmatter.IsNull(v) {
		r.AddNodeDiagnostic(v, "%s is %s; write one value", key, frontmatter.DescribeKind(v))
		return ""
	}
	return strings.TrimSpace(v.Value)
}

// readNonEmptyList is like readList, but it also reports an empty list as a mistake.
func (r *profileReader) readNonEmptyList(key string, v *yaml.Node, check func(string) error) []string {
	if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		r.AddNodeDiagnostic(v, "%s is an empty list; leave it out, or name something", key)
	}
	return r.readList(key, v, check)
}

// readList returns the values of a YAML list. The function check returns an error for a value that is not allowed.
// readList reports each value that is not a single word, is not allowed, or occurs twice, and omits this value from the
// result. If v is not a list, readList reports a mistake and returns nil.
func (r *profileReader) readList(key string, v *yaml.Node, check func(string) error) []string {
	if v.Kind != yaml.SequenceNode {
		if v.Kind == yaml.ScalarNode && !frontmatter.IsNull(v) {
			r.AddNodeDiagnostic(
				v,
				"%s is %s; write a list: [%s]",
				key,
				frontmatter.DescribeKind(v),
				frontmatter.ShortenValue(v.Value),
			)
		} else {
			r.AddNodeDiagnostic(v, "%s is %s; write a list such as [a, b]", key, frontmatter.DescribeKind(v))
		}
		return nil
	}
	values := []string{}
	for _, item := range v.Content {
		if item.Kind != yaml.ScalarNode || frontmatter.IsNull(item) {
			r.AddNodeDiagnostic(item, "a value of %s is %s; write words", key, frontmatter.DescribeKind(item))
			continue
		}
		if err := check(item.Value); err != nil {
			r.AddNodeDiagnostic(item, "%v", err)
			continue
		}
		if slices.Contains(values, item.Value) {
			r.AddNodeDiagnostic(item, "%s holds %q twice", key, frontmatter.ShortenValue(item.Value))
			continue
		}
		values = append(values, item.Value)
		r.profile.lineNumbers[key+"."+item.Value] = item.Line
	}
	return values
}

// checkDocument returns an error if the path is not valid for a document. A document must be inside the home or
// project to which the profile belongs.
func checkDocument(documentPath string) error {
	switch {
	case documentPath == "":
		return &oxbow.InvalidError{Field: "always_include", Reason: "holds an empty path"}
	case path.IsAbs(documentPath) || strings.HasPrefix(documentPath, "~") || (len(documentPath) > 1 &&
		documentPath[1] == ':'):
		return &oxbow.InvalidError{
			Field:  "always_include",
			Value:  frontmatter.ShortenValue(documentPath),
			Reason: "is not relative; paths begin where the profile's home or project does",
		}
	case strings.Contains(documentPath, `\`):
		return &oxbow.InvalidError{
			Field:  "always_include",
			Value:  frontmatter.ShortenValue(documentPath),
			Reason: "holds a backslash; write slashes",
		}
	case !fs.ValidPath(documentPath) || documentPath == ".":
		return &oxbow.InvalidError{
			Field:  "always_include",
			Value:  frontmatter.ShortenValue(documentPath),
			Reason: "does not stay inside the profile's home or project; leave out . and ..",
		}
	}
	return nil
}

func (r *profileReader) readNumber(key string, v *yaml.Node) int {
	n, err := strconv.Atoi(strings.ReplaceAll(v.Value, "_", ""))
	switch {
	case v.Kind != yaml.ScalarNode, err != nil, n < 1, n > min(maxAllowedTokens, math.MaxInt32):
		r.AddNodeDiagnostic(
			v,
			"%s is %s; write a whole number from 1 to %d",
			key,
			frontmatter.DescribeKind(v),
			maxAllowedTokens,
		)
		return 0
	}
	return n
}

func (r *profileReader) readBool(key string, v *yaml.Node) *bool {
	isTrue := v.Value == "true"
	isBool := isTrue || v.Value == "false"
	if v.Kind != yaml.ScalarNode || !isBool {
		r.AddNodeDiagnostic(v, "%s is %s; write true or false", key, frontmatter.DescribeKind(v))
		return nil
	}
	return &isTrue
}

// allPersonalDataKinds stands for all kinds of personal data.
const allPersonalDataKinds = "personal"

// readRedactedKinds returns the kinds of personal data in v, which is a list or a single value. The value
// allPersonalDataKinds stands for all kinds, so the result then contains all kinds. Unknown kinds are reported and
// omitted.
func (r *profileReader) readRedactedKinds(key string, v *yaml.Node) []string {
	if v.Kind == yaml.ScalarNode && !frontmatter.IsNull(v) {
		v = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{v}, Line: v.Line, Column: v.Column}
	}
	kinds := r.readNonEmptyList(key, v, func(s string) error {
		if s == allPersonalDataKinds || slices.Contains(scope.Kinds(), s) {
			return nil
		}
		return fmt.Errorf(
			"redact holds %q; there are %s, and %s for all of them",
			frontmatter.ShortenValue(s),
			strings.Join(scope.Kinds(), ", "),
			allPersonalDataKinds,
		)
	})
	if slices.Contains(kinds, allPersonalDataKinds) {
		return scope.Kinds()
	}
	return kinds
}

func (r *profileReader) parseChoice(location string, v *yaml.Node) *Choice {
	if v.Kind != yaml.MappingNode {
		r.AddNodeDiagnostic(
			v,
			"%s is %s; below it stand %s",
			location,
			frontmatter.DescribeKind(v),
			strings.Join(choiceKeys, ", "),
		)
		return nil
	}
	if len(v.Content) == 0 {
		r.AddNodeDiagnostic(v, "%s is empty; leave it out, or say what", location)
	}
	c := &Choice{}
	label := func(key string) func(string) error {
		return func(s string) error { return oxbow.Label{Key: key, Value: s}.Check() }
	}
	r.eachKey(v, location, choiceKeys, func(key string, k, v *yaml.Node) {
		full := location + "." + key
		r.profile.lineNumbers[full] = k.Line
		switch key {
		case "projects":
			c.Projects = r.readNonEmptyList(full, v, label(oxbow.LabelProject))
		case "tags":
			c.Tags = r.readNonEmptyList(full, v, label(oxbow.LabelTag))
		case "kinds":
			c.Kinds = r.readNonEmptyList(full, v, checkKind)
		case "related_files":
			c.RelatedFiles = r.readNonEmptyList(full, v, label(oxbow.LabelFile))
		case "entries":
			c.Entries = r.readNonEmptyList(full, v, oxbow.CheckName)
		case "date_range":
			c.From, c.To = r.readDates(full, v)
		}
	})
	return c
}

func checkKind(kindName string) error {
	_, err := oxbow.ParseKind(kindName)
	if err == nil {
		return nil
	}
	var kinds []string
	for _, k := range oxbow.Kinds() {
		kinds = append(kinds, k.String())
	}
	if near := text.FindSimilar(kindName, slices.Values(kinds), 1); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, near[0])
	}
	return err
}

// datePattern matches a day, a month, a year or a time. It does not match expressions such as "yesterday", whose
// meaning depends on the time at which the profile is read.
var datePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}(-\d{2}(-\d{2}([Tt ][0-9:.]+([Zz]|[+-]\d{2}:\d{2})?)?)?)?$`)
})

func (r *profileReader) readDates(key string, v *yaml.Node) (from, to time.Time) {
	if v.Kind != yaml.SequenceNode || len(v.Content) != 2 {
		r.AddNodeDiagnostic(
			v,
			"%s is not a list of two dates, the first and the last day; write [2026-04-18, 2026-05-01]",
			key,
		)
		return from, to
	}
	ok := true
	read := func(n *yaml.Node) (time.Time, time.Time) {
		if frontmatter.IsNull(n) {
			return time.Time{}, time.Time{}
		}
		if n.Kind == yaml.ScalarNode && datePattern().MatchString(n.Value) {
			f, err := query.TimeFilter("on", n.Value, time.Unix(0, 0).In(r.zone))
			if err == nil && !f.After.IsZero() {
				return f.After, f.Before
			}
		}
		ok = false
		r.AddNodeDiagnostic(
			n,
			"%s holds %s, which is no date such as 2026-04-18, 2026-04 or 2026",
			key,
			frontmatter.DescribeKind(n),
		)
		return time.Time{}, time.Time{}
	}
	from, _ = read(v.Content[0])
	_, to = read(v.Content[1])
	switch {
	case !ok:
	case from.IsZero() && to.IsZero():
		r.AddNodeDiagnostic(v, "%s is open on both sides; leave it out", key)
	case !from.IsZero() && !to.IsZero() && !from.Before(to):
		r.AddNodeDiagnostic(v, "%s ends before it begins; the first day stands first", key)
	}
	return from, to
}
