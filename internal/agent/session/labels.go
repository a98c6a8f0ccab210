// This file makes the labels of a turn.

package session

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// These are the keys of labels for a turn's injections. They record the hook event at which a text was injected, the
// entries that were shown, and the shown entries that the agent used. The labels are not indexed as words of the turn.
// Otherwise a search for an entry's name would find turns in which the entry was shown.
const (
	LabelInjected   = "injected"
	LabelShownEntry = "shown"
	labelUsedEntry  = "used"
)

// turnNumberLabelKey is the key of the label that marks an entry as a stored turn. The label's value is the turn's
// number.
const turnNumberLabelKey = "turn"

// TurnFilter selects the entries of an archive that are turns.
var TurnFilter = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{turnNumberLabelKey}}}}

// labelLimitsByKey lists a turn's label keys by priority, with the maximum number of labels for each key. If a turn
// has more than maxEventLabels labels in total, the last ones are left out.
var labelLimitsByKey = []struct {
	key string
	n   int
}{
	{"client", 1},
	{"session", 1},
	{turnNumberLabelKey, 1},
	{oxbow.LabelProject, 1},
	{"branch", 1},
	{"agent", 10},
	{"test", 2},
	{"exit", 8},
	{"error", 10},
	{oxbow.LabelTaint, 10}, {oxbow.LabelUnvouched, 4}, {"commit", 8}, {"call", 10}, {LabelInjected, 3},
	{
		LabelShownEntry,
		maxShownEntries,
	}, {labelUsedEntry, maxShownEntries}, {"tool", 30}, {oxbow.LabelFile, 70}, {"cmd", 80},
}

// maxEventLabels limits how many labels are made from a turn's events. maxNonEventLabels limits the number of all other
// labels, which are existing labels and labels from [Archive.MakeLabels].
const (
	maxEventLabels    = 244
	maxNonEventLabels = oxbow.MaxLabels - maxEventLabels
)

// turnLabels returns the labels of the turn t. The result contains two kinds of labels:
//   - Labels with a key in labelLimitsByKey describe the turn's events, such as its commits and files. turnLabels
//     computes these labels anew. The number of labels for each key and the total number are limited. Old "commit"
//     labels are kept if no commits are found.
//   - Other labels come from the function a.MakeLabels and from the list existing. At most maxNonEventLabels of them
//     are returned.
func (a *Archive) turnLabels(t *Turn, existing []oxbow.Label) []oxbow.Label {
	given := map[string][]string{
		"client":           {t.Client},
		"session":          {t.Session},
		turnNumberLabelKey: {fmt.Sprint(t.Number)},
		"branch": {
			t.Branch(),
		},
		oxbow.LabelTaint:     t.DescribeTaintingCalls(),
		oxbow.LabelUnvouched: t.UnknownProgramCalls(),
	}
	project, root := a.resolveProject(t.Dir(), existing)
	given[oxbow.LabelProject] = []string{project}
	given["commit"] = labelValues(existing, "commit")
	if a.FindCommits != nil && t.Dir() != "" {
		if found := a.FindCommits(t.Dir(), t.StartTime, t.EndTime); len(found) > 0 {
			given["commit"] = found
		}
	}
	for i := range t.Events {
		t.Events[i].addEventLabels(root, func(key, value string) { given[key] = append(given[key], value) })
	}
	for _, s := range t.ShownEntriesUsed() {
		given[labelUsedEntry] = append(given[labelUsedEntry], s.Name)
	}
	var all []oxbow.Label
	for _, m := range labelLimitsByKey {
		for _, v := range given[m.key] {
			if n := len(labelValues(all, m.key)); n < m.n && len(all) < maxEventLabels {
				all = appendLabel(all, m.key, v)
			}
		}
	}
	var foreign []oxbow.Label
	if a.MakeLabels != nil {
		foreign = a.MakeLabels(t)
	}
	foreign = slices.DeleteFunc(
		append(foreign, existing...),
		func(l oxbow.Label) bool { return isEventLabelKey(l.Key) },
	)
	return oxbow.SortLabels(append(all, foreign[:min(len(foreign), maxNonEventLabels)]...))
}

// addEventLabels calls add with the key and the value of each label for the event. The root is the project's directory.
func (e *Event) addEventLabels(root string, add func(key, value string)) {
	add("agent", e.SubAgent)
	if in := e.Injection; in != nil {
		add(LabelInjected, in.HookEvent)
		for _, s := range in.ShownEntries {
			add(LabelShownEntry, s.Name)
		}
	}
	c := e.Call
	if c == nil {
		return
	}
	add("tool", c.Tool)
	add("cmd", c.Command)
	// oxbow's MCP server may record the call ID as the source of a change. The label lets a search for this ID find
	// the turn.
	if c.mcpServer(e.Client) != "" {
		add("call", e.ID)
	}
	for _, p := range slices.Concat(c.WrittenFiles, c.ReadFiles) {
		add(oxbow.LabelFile, projectRelativePath(p, e.Dir, root))
	}
	if c.ExitStatus != nil {
		add("exit", fmt.Sprint(*c.ExitStatus))
	}
	failed := c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0)
	if failed {
		add("error", FailureSignature(c.Output))
	}
	if testCommandPattern().MatchString(c.Command) {
		add("test", map[bool]string{false: "pass", true: "fail"}[failed])
	}
}

func isEventLabelKey(key string) bool {
	for _, m := range labelLimitsByKey {
		if m.key == key {
			return true
		}
	}
	return false
}

func labelValues(ls []oxbow.Label, key string) []string { return oxbow.Entry{Labels: ls}.Values(key) }

// appendLabel appends a label to the list in a valid form. It does nothing if the value is empty or if the list
// contains the label already.
func appendLabel(ls []oxbow.Label, key, value string) []oxbow.Label {
	l := oxbow.Label{Key: key, Value: toShortLine(value, oxbow.MaxName)}
	if slices.Contains(ls, l) || l.Check() != nil {
		return ls
	}
	return append(ls, l)
}

// resolveProject returns the name and the root of the project that contains dir. If the root is unknown, for example
// because the directory was deleted, the name in the existing labels is preferred to a guess.
func (a *Archive) resolveProject(dir string, existing []oxbow.Label) (name, root string) {
	if a.FindProject == nil || dir == "" {
		return "", ""
	}
	name, root = a.FindProject(dir)
	isGuess := name == "" || root == ""
	if vs := labelValues(existing, oxbow.LabelProject); isGuess && len(vs) > 0 {
		name = vs[0]
	}
	return name, root
}

// projectRelativePath returns the path filePath relative to the project's directory root, with slashes. If filePath is
// relative, it is relative to dir. If root is "", dir is used as the root. If filePath is outside of the root, the
// result is the whole cleaned path.
func projectRelativePath(filePath, dir, root string) string {
	filePath = replaceBackslashes(filePath)
	dir = replaceBackslashes(dir)
	root = replaceBackslashes(root)
	if !isAbsolutePath(filePath) && dir != "" {
		filePath = path.Join(dir, filePath)
	}
	filePath = path.Clean(filePath)
	if root == "" {
		root = dir
	}
	if rest, ok := strings.CutPrefix(filePath, strings.TrimSuffix(root, "/")+"/"); ok {
		return rest
	}
	return filePath
}

// testCommandPattern matches commands that run tests.
var testCommandPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?:^|[;&|(]\s*|\s)(?:go test|go vet|cargo (?:test|nextest)|pytest|python3? -m (?:pytest|unittest)|tox|nox|` +
			`(?:npm|pnpm|yarn|bun)(?: run)? test\S*|npx (?:jest|vitest|mocha|playwright)|jest|vitest|mocha|deno test|node --test|` +
			`mvn\s.*\btest|(?:\./)?gradlew?\s.*\b(?:test|check)|dotnet test|swift test|mix test|rspec|bundle exec r(?:spec|ake)|rake test|phpunit|` +
			`make (?:test|check)\S*|ctest|bazel test|just test|zig build test)(?:\s|$|[;&|)])`,
	)
})
