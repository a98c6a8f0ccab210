// This file finds the directories in which clients store their files.

package clientfile

import (
	"cmp"
	"encoding/json"
	"path/filepath"
)

// clientHome describes the directory of a client: the environment variable that may name a directory, the
// default in the user's home directory, and the path below either.
type clientHome struct{ variable, dir, below string }

// Home returns the directory in which a client stores its settings and transcripts. The argument user is the user's
// home directory.
func Home(client, user string, getenv func(string) string) string {
	c, _ := FindEventClient(client)
	return filepath.Join(cmp.Or(getenv(c.home.variable), filepath.Join(user, c.home.dir)), c.home.below)
}

// Roots returns the directories in which a client may store its sessions. Most clients have a single directory.
// Extensions of editors have several, because the directory depends on the operating system and the editor. The
// directories need not exist. The argument user is the user's home directory.
func Roots(client, user string, getenv func(string) string) []string {
	c, _ := FindEventClient(client)
	if c.roots == nil {
		return []string{Home(client, user, getenv)}
	}
	return c.roots(baseDirs{user: user, getenv: getenv})
}

// baseDirs finds the directories in which programs of a user store files.
type baseDirs struct {
	user   string
	getenv func(string) string
}

// home returns a directory that an environment variable names, or else one in the user's home directory.
func (b baseDirs) home(variable, dir string) string {
	return cmp.Or(b.getenv(variable), filepath.Join(b.user, dir))
}

// config returns a program's directory below the directories for settings of Linux, macOS and Windows.
func (b baseDirs) config(dir string) []string {
	return []string{
		filepath.Join(b.home("XDG_CONFIG_HOME", ".config"), dir),
		filepath.Join(b.user, "Library", "Application Support", dir),
		filepath.Join(b.home("APPDATA", "AppData/Roaming"), dir),
	}
}

// data returns a program's directory below the directories for data of Linux, macOS and Windows.
func (b baseDirs) data(dir string) []string {
	return []string{
		filepath.Join(b.home("XDG_DATA_HOME", ".local/share"), dir),
		filepath.Join(b.user, "Library", "Application Support", dir),
		filepath.Join(b.home("LOCALAPPDATA", "AppData/Local"), dir),
	}
}

// editors contains the names of VS Code and the editors that are built from it.
var editors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"}

// extension returns the directories of an extension in all editors.
func (b baseDirs) extension(id string) (all []string) {
	for _, editor := range editors {
		for _, dir := range b.config(editor) {
			all = append(all, filepath.Join(dir, "User", "globalStorage", id))
		}
	}
	return all
}

// claudeRoots returns the directory of Claude Code, and the one that some versions used if no variable names another.
func claudeRoots(b baseDirs) []string {
	if dir := b.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{dir}
	}
	return []string{filepath.Join(b.user, ".claude"), filepath.Join(b.home("XDG_CONFIG_HOME", ".config"), "claude")}
}

func cursorRoots(b baseDirs) []string {
	all := []string{filepath.Join(b.user, ".cursor")}
	for _, dir := range b.config("Cursor") {
		all = append(all, filepath.Join(dir, "User"))
	}
	return all
}

func vscodeRoots(b baseDirs) (all []string) {
	for _, editor := range editors[:3] {
		for _, dir := range b.config(editor) {
			all = append(all, filepath.Join(dir, "User"))
		}
	}
	return all
}

func clineRoots(b baseDirs) []string {
	return append(b.extension("saoudrizwan.claude-dev"), filepath.Join(b.home("CLINE_DIR", ".cline"), "data"))
}

func gooseRoots(b baseDirs) []string {
	return append(b.data("goose"), filepath.Join(b.home("APPDATA", "AppData/Roaming"), "Block", "goose", "data"))
}

func kimiRoots(b baseDirs) []string {
	return []string{filepath.Join(b.user, ".kimi"), filepath.Join(b.user, ".kimi-code")}
}

// crushRoots returns the directories that Crush lists in its file projects.json, one for each project
// (internal/projects in charmbracelet/crush).
func crushRoots(b baseDirs) (all []string) {
	for _, dir := range b.data("crush") {
		var list struct {
			Projects []struct {
				Dir string `json:"data_dir"`
			} `json:"projects"`
		}
		_ = json.Unmarshal(readSmall(filepath.Join(dir, "projects.json")), &list) // the file may be missing
		for _, p := range list.Projects {
			if filepath.IsAbs(p.Dir) {
				all = append(all, p.Dir)
			}
		}
	}
	return all
}
