// This file reads team.yaml, which contains the settings of team files and is versioned with them.

package team

import (
	"errors"
	"io/fs"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// settingsFile is the name of the file with the settings.
const settingsFile = "team.yaml"

// settingsVersion is the version of the format that oxbow writes, and the newest version that it can read.
const settingsVersion = "1"

// teamSettings is the content of team.yaml.
type teamSettings struct {
	Branch string // the reviewed branch of the remote ("" means the remote's default branch)
}

// parseSettings parses the text of team.yaml, which is a mapping with the keys version and branch. An empty text means
// the defaults. file is the file's path, which error messages contain together with the line of a mistake.
func parseSettings(file, text string) (teamSettings, error) {
	r := &settingsFileReader{MappingReader: frontmatter.MappingReader{File: file}}
	switch n := r.ReadMapping(text); {
	case n == nil || n.Line == 0:
	case n.Kind != yaml.MappingNode:
		r.AddNodeDiagnostic(
			n,
			"is %s; it has lines such as \"version: %s\"",
			frontmatter.DescribeKind(n),
			settingsVersion,
		)
	default:
		r.readNode(n)
	}
	var errs []error
	for _, d := range r.Diagnostics {
		errs = append(errs, errors.New(d.String()))
	}
	return r.settings, errors.Join(errs...)
}

type settingsFileReader struct {
	frontmatter.MappingReader
	settings teamSettings
}

func (r *settingsFileReader) readNode(n *yaml.Node) {
	seenKeys := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case seenKeys[k.Value]:
			r.AddNodeDiagnostic(k, "%s is there twice", frontmatter.ShortenValue(k.Value))
		case k.Value == "version" && v.Value != settingsVersion:
			r.AddNodeDiagnostic(
				v,
				"is of version %s, and this oxbow reads %s: install a newer one",
				frontmatter.ShortenValue(v.Value),
				settingsVersion,
			)
		case k.Value == "branch" && (v.Kind != yaml.ScalarNode || !isBranchName(v.Value)):
			r.AddNodeDiagnostic(
				v,
				"is %s; branch is the name of a branch of the remote, such as main",
				frontmatter.DescribeKind(v),
			)
		case k.Value == "branch":
			r.settings.Branch = v.Value
		case k.Value != "version":
			r.AddNodeDiagnostic(
				k,
				"unknown key %q; there are version and branch. A newer oxbow may have written it: install that, or "+
					"take the line out",
				frontmatter.ShortenValue(k.Value),
			)
		}
		seenKeys[k.Value] = true
	}
}

// isBranchName reports whether git accepts the name for a branch.
func isBranchName(name string) bool {
	return len(name) <= 200 && fs.ValidPath(name) && name != "." && name[0] != '-' && !strings.Contains(name, "..") &&
		!strings.HasSuffix(name, ".lock") &&
		!strings.ContainsFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`~^:?*[\@{`, r)
		})
}

// formatSettings returns the text of team.yaml for the settings.
func formatSettings(s teamSettings) string {
	text := "# The Markdown files next to this file are notes that the team and its agents share. Review them like code.\n" +
		"# https://github.com/oxbow-memory/oxbow\nversion: " + settingsVersion + "\n"
	if s.Branch != "" {
		text += "branch: " + s.Branch + "\n"
	}
	return text
}
