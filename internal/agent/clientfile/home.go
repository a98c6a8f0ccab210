// This file finds the directories in which clients store their files.

package clientfile

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// clientHome describes how the directory of a client is found. An environment variable may name a directory. Otherwise
// a default directory in the user's home directory is used. The subdir is appended in both cases.
type clientHome struct{ envVariable, defaultDir, subdir string }

// HomeDir returns the directory in which a client stores its settings. Most clients also store their transcripts there
// (see [SessionRoots]). The argument userHome is the user's home directory.
func HomeDir(client, userHome string, getenv func(string) string) string {
	c, _ := FindEventClient(client)
	return filepath.Join(
		cmp.Or(getenv(c.homeDir.envVariable), filepath.Join(userHome, c.homeDir.defaultDir)),
		c.homeDir.subdir,
	)
}

// splitDirList splits value, the value of an environment variable, into directories that are separated by commas.
// Claude Code accepts only one directory in this variable, but people list several directories for other programs that
// read its transcripts. If a directory with the name value exists, splitDirList returns only this directory, because
// the commas then belong to its name.
func splitDirList(value string) (dirs []string) {
	if info, err := os.Stat(value); err == nil && info.IsDir() {
		return []string{value}
	}
	for dir := range strings.SplitSeq(value, ",") {
		dir = strings.TrimSpace(dir)
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// SessionRoots returns the directories in which a client may store its sessions. A root may also be a file, such as a
// database. The roots need not exist. userHome is the user's home directory.
//
// Most clients have a single root. Others have several for one of these reasons: their default directory changed, an
// environment variable lists several, or the directory of an editor extension depends on the operating system and the
// editor.
func SessionRoots(client, userHome string, getenv func(string) string) []string {
	c, _ := FindEventClient(client)
	if c.findSessionRoots == nil {
		return []string{HomeDir(client, userHome, getenv)}
	}
	return c.findSessionRoots(baseDirs{userHome: userHome, getenv: getenv})
}

// baseDirs finds the directories in which the user's programs store files.
type baseDirs struct {
	userHome string
	getenv   func(string) string
}

// dirFromEnv returns the directory that an environment variable names. If the variable is not set, it returns
// defaultDir in the user's home directory.
func (b baseDirs) dirFromEnv(variable, defaultDir string) string {
	return cmp.Or(b.getenv(variable), filepath.Join(b.userHome, defaultDir))
}

// configDirs returns a program's directories for settings, one each for Linux, macOS and Windows.
func (b baseDirs) configDirs(programDir string) []string {
	return []string{
		filepath.Join(b.dirFromEnv("XDG_CONFIG_HOME", ".config"), programDir),
		filepath.Join(b.userHome, "Library", "Application Support", programDir),
		filepath.Join(b.dirFromEnv("APPDATA", "AppData/Roaming"), programDir),
	}
}

// dataDirs returns a program's directories for data, one each for Linux, macOS and Windows.
func (b baseDirs) dataDirs(programDir string) []string {
	return []string{
		filepath.Join(b.dirFromEnv("XDG_DATA_HOME", ".local/share"), programDir),
		filepath.Join(b.userHome, "Library", "Application Support", programDir),
		filepath.Join(b.dirFromEnv("LOCALAPPDATA", "AppData/Local"), programDir),
	}
}

// vscodeEditorNames contains the directory names of VS Code and editors that are built from VS Code.
var vscodeEditorNames = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"}

// extensionDirs returns the directories in which an extension stores data, one for each editor and operating system.
func (b baseDirs) extensionDirs(id string) (all []string) {
	for _, editor := range vscodeEditorNames {
		for _, dir := range b.configDirs(editor) {
			all = append(all, filepath.Join(dir, "User", "globalStorage", id))
		}
	}
	return all
}

// claudeSessionRoots returns the directories in which Claude Code may store sessions. If the environment variable
// CLAUDE_CONFIG_DIR lists directories, the result contains only these directories. Otherwise the result contains
// .claude in the user's home directory, and the directory claude in XDG_CONFIG_HOME (by default, .config/claude in the
// user's home directory). Some versions of Claude Code stored sessions in the second directory.
func claudeSessionRoots(b baseDirs) []string {
	if dirs := splitDirList(b.getenv("CLAUDE_CONFIG_DIR")); len(dirs) > 0 {
		return dirs
	}
	return []string{
		filepath.Join(b.userHome, ".claude"),
		filepath.Join(b.dirFromEnv("XDG_CONFIG_HOME", ".config"), "claude"),
	}
}

// geminiSessionRoots returns the directories in which Gemini CLI may store its sessions. If GEMINI_CLI_HOME is set,
// this is only the directory .gemini in it. Otherwise, these are two directories in the user's home directory: .gemini,
// and .cache/.gemini, which Gemini CLI uses in the macOS sandbox.
func geminiSessionRoots(b baseDirs) []string {
	if dir := b.getenv("GEMINI_CLI_HOME"); dir != "" {
		return []string{filepath.Join(dir, ".gemini")}
	}
	return []string{filepath.Join(b.userHome, ".gemini"), filepath.Join(b.userHome, ".cache", ".gemini")}
}

// copilotSessionRoots returns the directories in which Copilot CLI stores its data. Some versions used the directory
// .copilot in XDG_STATE_HOME, the user's directory for the state of programs.
func copilotSessionRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("COPILOT_HOME", ".copilot")}
	if state := b.getenv("XDG_STATE_HOME"); state != "" {
		all = append(all, filepath.Join(state, ".copilot"))
	}
	return all
}

// qwenSessionRoots returns the directories of Qwen Code. An environment variable may name a separate directory for
// sessions.
func qwenSessionRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("QWEN_HOME", ".qwen")}
	if sessions := b.getenv("QWEN_RUNTIME_DIR"); sessions != "" {
		all = append(all, sessions)
	}
	return all
}

// opencodeSessionRoots returns opencode's data directories, and the path of the database if the environment variable
// OPENCODE_DB contains one. A relative path in OPENCODE_DB is relative to the first data directory. The value
// ":memory:" is ignored.
func opencodeSessionRoots(b baseDirs) []string {
	all := b.dataDirs("opencode")
	database := b.getenv("OPENCODE_DB")
	switch {
	case database == "", database == ":memory:":
	case filepath.IsAbs(database):
		all = append(all, database)
	default:
		all = append(all, filepath.Join(all[0], database))
	}
	return all
}

func cursorSessionRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("CURSOR_CONFIG_DIR", ".cursor")}
	for _, dir := range b.configDirs("Cursor") {
		all = append(all, filepath.Join(dir, "User"))
	}
	return all
}

func vscodeSessionRoots(b baseDirs) (all []string) {
	for _, editor := range vscodeEditorNames[:3] {
		for _, dir := range b.configDirs(editor) {
			all = append(all, filepath.Join(dir, "User"))
		}
	}
	return all
}

func clineSessionRoots(b baseDirs) []string {
	own := cmp.Or(b.getenv("CLINE_DATA_DIR"), filepath.Join(b.dirFromEnv("CLINE_DIR", ".cline"), "data"))
	return append(b.extensionDirs("saoudrizwan.claude-dev"), own)
}

func gooseSessionRoots(b baseDirs) []string {
	if root := b.getenv("GOOSE_PATH_ROOT"); root != "" {
		return []string{filepath.Join(root, "data")}
	}
	return append(
		b.dataDirs("goose"),
		filepath.Join(b.dirFromEnv("APPDATA", "AppData/Roaming"), "Block", "goose", "data"),
	)
}

func kimiSessionRoots(b baseDirs) []string {
	return []string{b.dirFromEnv("KIMI_SHARE_DIR", ".kimi"), b.dirFromEnv("KIMI_CODE_HOME", ".kimi-code")}
}

func openclawSessionRoots(b baseDirs) []string {
	home := cmp.Or(b.getenv("OPENCLAW_HOME"), b.userHome)
	return []string{cmp.Or(b.getenv("OPENCLAW_STATE_DIR"), filepath.Join(home, ".openclaw"))}
}

// crushSessionRoots returns the directories of all Crush projects, which Crush's file projects.json lists
// (internal/projects in charmbracelet/crush).
func crushSessionRoots(b baseDirs) (all []string) {
	dirs := b.dataDirs("crush")
	if dir := b.getenv("CRUSH_GLOBAL_DATA"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		var list struct {
			Projects []struct {
				Dir string `json:"data_dir"`
			} `json:"projects"`
		}
		// Ignore the error: the file may be missing.
		_ = json.Unmarshal(readSmallFile(filepath.Join(dir, "projects.json")), &list)
		for _, p := range list.Projects {
			if filepath.IsAbs(p.Dir) {
				all = append(all, p.Dir)
			}
		}
	}
	return all
}
