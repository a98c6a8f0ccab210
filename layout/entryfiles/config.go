// This file reads the configuration file, memory.toml.

package entryfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// config is the content of memory.toml.
type config struct {
	recallLimit int // number of results that recall returns if the caller sets no limit
	// auto-recall searches for this many words from the beginning of the user's last message (0 disables auto-recall)
	autoRecallWordCount int
	canEditSoul         bool // The agent may rewrite Crab.md.
}

var defaultConfig = config{recallLimit: 5, autoRecallWordCount: 8, canEditSoul: true}

// maxConfigBytes is the maximum size of memory.toml, in bytes.
const maxConfigBytes = 64 << 10

// newConfigText is the memory.toml of a new home.
const newConfigText = `# How this memory is used. Every key may be left out.

# The most entries that recall returns when it is not told.
recall_limit = 5

# How many words of your newest message are looked for before each turn; 0 for none.
auto_recall_words = 8

# Whether the agent may rewrite Crab.md, its identity.
soul_editable = true
`

// readConfig reads memory.toml. If the file does not exist, readConfig returns the defaults.
func readConfig(fsys vfs.FS) (config, error) {
	data, err := vfs.ReadFile(fsys, configFile, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return defaultConfig, nil
	}
	if err != nil {
		return config{}, err
	}
	return parseConfig(string(data))
}

// parseConfig parses memory.toml: lines "key = value", comments, and optionally the table header [memory]. An unknown
// key is an error. Otherwise a misspelt key could leave a permission granted.
func parseConfig(toml string) (config, error) {
	c := defaultConfig
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(toml, "\ufeff")) {
		n++
		bad := func(value, reason string) error {
			return &oxbow.InvalidError{Field: fmt.Sprintf("%s line %d:", configFile, n), Value: value, Reason: reason}
		}
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" || line == "[memory]" {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			return config{}, bad(text.TruncateWithEllipsis(line, 20), "is not key = value")
		}
		if seen[key] {
			return config{}, bad(key, "is given twice")
		}
		seen[key] = true
		number := func(into *int, least int) error {
			i, err := strconv.Atoi(value)
			isInRange := least <= i && i <= oxbow.MaxLimit
			if err != nil || !isInRange {
				return bad(key, fmt.Sprintf("wants a whole number from %d to %d", least, oxbow.MaxLimit))
			}
			*into = i
			return nil
		}
		var err error
		switch key {
		case "recall_limit":
			err = number(&c.recallLimit, 1)
		case "auto_recall_words":
			err = number(&c.autoRecallWordCount, 0)
		case "soul_editable":
			if value != "true" && value != "false" {
				err = bad(key, "wants true or false")
			}
			c.canEditSoul = value == "true"
		default:
			err = bad(
				text.TruncateWithEllipsis(key, 20),
				"is not one of recall_limit, auto_recall_words, soul_editable",
			)
		}
		if err != nil {
			return config{}, err
		}
	}
	return c, nil
}
