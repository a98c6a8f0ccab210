// This file parses the runner: the command with which the user wants sub-agents to be started. The command is in the
// home's settings file:
//
//	runner:
//	  command: [claude, --print, --mcp-config, "{mcp_config}", --strict-mcp-config]
//	  stdin: briefing      # standard input of the command: briefing, task or none
//	  timeout: 30m         # after this time, it is stopped
//
// The command is a list of arguments. It is started without a shell. Arguments may contain placeholders. A placeholder
// for a file is replaced by the path of a file that exists during the run.

package subagent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/profile"
)

// SettingsFile is the name of the settings file in a home.
const SettingsFile = "settings.yaml"

// MaxSettingsFileBytes is the maximum size, in bytes, of the settings file.
const MaxSettingsFileBytes = 64 << 10

// Limits for the settings of a runner.
const (
	defaultTimeout = 30 * time.Minute
	maxTimeout     = 24 * time.Hour
	maxArgs        = 256
)

// placeholders lists the placeholders that a command may contain. The first four are replaced by the path of a file.
var placeholders = []string{"briefing", "task", "skill", "mcp_config", "agent_id", "profile"}

var placeholderPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([a-z_]+)\}`) })

// Values of the setting stdin, which select the command's standard input.
const (
	stdinBriefing = "briefing"
	stdinTask     = "task"
	stdinNone     = "none"
)

// Runner is the command that starts a sub-agent.
type Runner struct {
	Command      []string // program and arguments
	Stdin        string
	RunTimeout   time.Duration
	SettingsPath string // path of the settings file, for messages
}

// ParseRunner parses the runner in a settings file. It returns nil if the file configures no runner. If the file
// contains mistakes, the error is a [profile.Diagnostics].
func ParseRunner(file string, data []byte) (*Runner, error) {
	p := &settingsParser{file: file}
	r := p.parseSettings(data)
	if len(p.diagnostics) > 0 {
		return nil, p.diagnostics
	}
	return r, nil
}

type settingsParser struct {
	file        string
	diagnostics profile.Diagnostics
}

func (p *settingsParser) addDiagnostic(n *yaml.Node, format string, args ...any) {
	m := profile.Diagnostic{File: p.file, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		m.Line, m.Column = n.Line, n.Column
	}
	p.diagnostics = append(p.diagnostics, m)
}

// parseSettings returns the runner in the settings, or nil if the settings contain none or are invalid. It reports
// mistakes by addDiagnostic.
func (p *settingsParser) parseSettings(data []byte) *Runner {
	if len(data) > MaxSettingsFileBytes {
		p.addDiagnostic(nil, "has more than %d bytes, which is the most", MaxSettingsFileBytes)
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // The file is empty or contains only comments.
	} else if err != nil {
		p.addDiagnostic(nil, "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		p.addDiagnostic(nil, "holds more than one document")
		return nil
	}
	if len(doc.Content) == 0 || doc.Content[0].ShortTag() == "!!null" {
		return nil
	}
	var r *Runner
	p.eachKey(doc.Content[0], "settings", []string{"runner"}, func(_ string, v *yaml.Node) { r = p.parseRunner(v) })
	return r
}

// eachKey calls the function fn for each key of the mapping n that is in knownKeys. It reports unknown and repeated
// keys as mistakes, and does not call fn for them. A YAML alias as a value is also a mistake, because an alias does not
// show its value. If n is not a mapping, eachKey only reports this mistake.
func (p *settingsParser) eachKey(
	n *yaml.Node,
	mappingName string,
	knownKeys []string,
	fn func(key string, v *yaml.Node),
) {
	if n.Kind != yaml.MappingNode {
		p.addDiagnostic(n, "%s is not a mapping with %s", mappingName, strings.Join(knownKeys, ", "))
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		near := text.FindSimilar(k.Value, slices.Values(knownKeys), 1)
		switch {
		case k.Kind != yaml.ScalarNode || v.Kind == yaml.AliasNode:
			p.addDiagnostic(k, "%s holds what is no plain key and value", mappingName)
		case slices.Contains(seen, k.Value):
			p.addDiagnostic(k, "%s is given twice", k.Value)
		case slices.Contains(knownKeys, k.Value):
			fn(k.Value, v)
		case len(near) > 0:
			p.addDiagnostic(
				k,
				"unknown key %q in %s; did you mean %s?",
				text.TruncateWithEllipsis(k.Value, 64),
				mappingName,
				near[0],
			)
		default:
			p.addDiagnostic(
				k,
				"unknown key %q in %s; there are %s",
				text.TruncateWithEllipsis(k.Value, 64),
				mappingName,
				strings.Join(knownKeys, ", "),
			)
		}
		seen = append(seen, k.Value)
	}
}

// parseRunner returns the runner that the mapping n describes. Missing settings get their defaults, but a missing
// command is reported as a mistake.
func (p *settingsParser) parseRunner(n *yaml.Node) *Runner {
	r := &Runner{Stdin: stdinBriefing, RunTimeout: defaultTimeout, SettingsPath: p.file}
	p.eachKey(n, "runner", []string{"command", "stdin", "timeout"}, func(key string, v *yaml.Node) {
		switch key {
		case "command":
			r.Command = p.parseCommand(v)
		case "stdin":
			r.Stdin = v.Value
			if !slices.Contains([]string{stdinBriefing, stdinTask, stdinNone}, v.Value) {
				p.addDiagnostic(v, "stdin is %q; write briefing, task or none", text.TruncateWithEllipsis(v.Value, 64))
			}
		case "timeout":
			d, err := time.ParseDuration(v.Value)
			isTimeout := d >= time.Second && d <= maxTimeout
			if err != nil || !isTimeout {
				p.addDiagnostic(
					v,
					"timeout is %q; write a time such as 30m, from 1s to 24h",
					text.TruncateWithEllipsis(v.Value, 64),
				)
			}
			r.RunTimeout = d
		}
	})
	if r.Command == nil && len(p.diagnostics) == 0 {
		p.addDiagnostic(n, "runner has no command")
	}
	return r
}

// parseCommand returns the command in the list v: the program and its arguments. It reports unknown placeholders,
// arguments that are not words, and a program with a relative path as mistakes.
func (p *settingsParser) parseCommand(v *yaml.Node) []string {
	hasArgs := len(v.Content) > 0 && len(v.Content) <= maxArgs
	if v.Kind != yaml.SequenceNode || !hasArgs {
		p.addDiagnostic(
			v,
			"command is not a list of the program and its arguments, such as [agent, --prompt-file, \"{briefing}\"]; "+
				"no shell reads it",
		)
		return nil
	}
	var argv []string
	for _, a := range v.Content {
		if a.Kind != yaml.ScalarNode || a.ShortTag() == "!!null" {
			p.addDiagnostic(a, "command holds what is no word")
			continue
		}
		if strings.IndexByte(a.Value, 0) >= 0 {
			p.addDiagnostic(a, "command holds a NUL")
		}
		for _, m := range placeholderPattern().FindAllStringSubmatch(a.Value, -1) {
			if !slices.Contains(placeholders, m[1]) {
				p.addDiagnostic(
					a,
					"there is no placeholder {%s}; there are {%s}",
					text.TruncateWithEllipsis(m[1], 64),
					strings.Join(placeholders, "}, {"),
				)
			}
		}
		argv = append(argv, a.Value)
	}
	if len(argv) == 0 {
		return nil
	}
	if !isValidProgram(argv[0]) {
		p.addDiagnostic(
			v.Content[0],
			"the program %q is neither a name that is found in PATH nor a whole path",
			text.TruncateWithEllipsis(argv[0], 64),
		)
	}
	return argv
}

// isValidProgram reports whether program is a plain file name or an absolute path, and contains no placeholder. A
// relative path is not valid, because it could refer to a program in the current project.
func isValidProgram(program string) bool {
	if program == "" || placeholderPattern().MatchString(program) {
		return false
	}
	return !strings.ContainsAny(program, `/\`) || filepath.IsAbs(program)
}

// expandPlaceholders returns the command that starts the sub-agent, with each placeholder in its arguments replaced by
// a value.
func (r *Runner) expandPlaceholders(placeholderValues map[string]string) []string {
	argv := slices.Clone(r.Command)
	for i, a := range argv[1:] {
		argv[i+1] = placeholderPattern().ReplaceAllStringFunc(a,
			func(s string) string { return placeholderValues[s[1:len(s)-1]] })
	}
	return argv
}
