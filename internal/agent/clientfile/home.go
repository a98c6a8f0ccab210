// This file finds the directories in which clients store their files.

package clientfile

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// clientHome describes the directory of a client: the environment variable that may name a directory, the
// default in the user's home directory, and the path below either.
type clientHome struct{ envVariable, defaultDir, subdir string }

// HomeDir returns the directory in which a client stores its settings. Most clients store their transcripts there as
// well, but see [SessionRoots]. The argument userHome is the user's home directory.
func HomeDir(client, userHome string, getenv func(string) string) string {
	c, _ := FindEventClient(client)
	return filepath.Join(
		cmp.Or(getenv(c.homeDir.envVariable), filepath.Join(userHome, c.homeDir.defaultDir)),
		c.homeDir.subdir,
	)
}

// splitDirList returns the directories in an environment variable, which are separated by commas. Claude Code itself
// accepts only one, but people list several for other programs that read its transcripts. A directory that exists
// may have a comma in its name.
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

// SessionRoots returns the directories, and in rare cases the file, in which a client may store its sessions. Most
// clients have a single directory. Extensions of editors have several, because the directory depends on the
// operating system and the editor. Other clients have several because their default changed, or because an
// environment variable may list several. The directories need not exist. The argument userHome is the user's home
// directory.
func SessionRoots(client, userHome string, getenv func(string) string) []string {
	c, _ := FindEventClient(client)
	if c.findRoots == nil {
		return []string{HomeDir(client, userHome, getenv)}
	}
	return c.findRoots(baseDirs{userHome: userHome, getenv: getenv})
}

// baseDirs finds the directories in which programs of a user store files.
type baseDirs struct {
	userHome string
	getenv   func(string) string
}

// dirFromEnv returns a directory that an environment variable names, or else one in the user's home directory.
func (b baseDirs) dirFromEnv(variable, defaultDir string) string {
	return cmp.Or(b.getenv(variable), filepath.Join(b.userHome, defaultDir))
}

// configDirs returns a program's directory below the directories for settings of Linux, macOS and Windows.
func (b baseDirs) configDirs(dir string) []string {
	return []string{
		filepath.Join(b.dirFromEnv("XDG_CONFIG_HOME", ".config"), dir),
		filepath.Join(b.userHome, "Library", "Application Support", dir),
		filepath.Join(b.dirFromEnv("APPDATA", "AppData/Roaming"), dir),
	}
}

// dataDirs returns a program's directory below the directories for data of Linux, macOS and Windows.
func (b baseDirs) dataDirs(dir string) []string {
	return []string{
		filepath.Join(b.dirFromEnv("XDG_DATA_HOME", ".local/share"), dir),
		filepath.Join(b.userHome, "Library", "Application Support", dir),
		filepath.Join(b.dirFromEnv("LOCALAPPDATA", "AppData/Local"), dir),
	}
}

// vscodeEditors contains the names of VS Code and the editors that are built from it.
var vscodeEditors = []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"}

// extensionDirs returns the directories of an extension in all editors.
func (b baseDirs) extensionDirs(id string) (all []string) {
	for _, editor := range vscodeEditors {
		for _, dir := range b.configDirs(editor) {
			all = append(all, filepath.Join(dir, "User", "globalStorage", id))
		}
	}
	return all
}

// claudeRoots returns the directories of Claude Code: those in the environment variable, or else the two defaults,
// because some versions used the directory for settings.
func claudeRoots(b baseDirs) []string {
	if dirs := splitDirList(b.getenv("CLAUDE_CONFIG_DIR")); len(dirs) > 0 {
		return dirs
	}
	return []string{
		filepath.Join(b.userHome, ".claude"),
		filepath.Join(b.dirFromEnv("XDG_CONFIG_HOME", ".config"), "claude"),
	}
}

// geminiRoots returns the directories of Gemini CLI. In a sandbox of macOS, it uses a directory for caches.
func geminiRoots(b baseDirs) []string {
	if dir := b.getenv("GEMINI_CLI_HOME"); dir != "" {
		return []string{filepath.Join(dir, ".gemini")}
	}
	return []string{filepath.Join(b.userHome, ".gemini"), filepath.Join(b.userHome, ".cache", ".gemini")}
}

// copilotRoots returns the directories of Copilot CLI. Some versions used the directory for state.
func copilotRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("COPILOT_HOME", ".copilot")}
	if state := b.getenv("XDG_STATE_HOME"); state != "" {
		all = append(all, filepath.Join(state, ".copilot"))
	}
	return all
}

// qwenRoots returns the directories of Qwen Code. A variable may separate the sessions from the settings.
func qwenRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("QWEN_HOME", ".qwen")}
	if sessions := b.getenv("QWEN_RUNTIME_DIR"); sessions != "" {
		all = append(all, sessions)
	}
	return all
}

// opencodeRoots returns the directories of opencode, and the database that a variable may name. A relative path is
// below the directory for data.
func opencodeRoots(b baseDirs) []string {
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

func cursorRoots(b baseDirs) []string {
	all := []string{b.dirFromEnv("CURSOR_CONFIG_DIR", ".cursor")}
	for _, dir := range b.configDirs("Cursor") {
		all = append(all, filepath.Join(dir, "User"))
	}
	return all
}

func vscodeRoots(b baseDirs) (all []string) {
	for _, editor := range vscodeEditors[:3] {
		for _, dir := range b.configDirs(editor) {
			all = append(all, filepath.Join(dir, "User"))
		}
	}
	return all
}

func clineRoots(b baseDirs) []string {
	own := cmp.Or(b.getenv("CLINE_DATA_DIR"), filepath.Join(b.dirFromEnv("CLINE_DIR", ".cline"), "data"))
	return append(b.extensionDirs("saoudrizwan.claude-dev"), own)
}

func gooseRoots(b baseDirs) []string {
	if root := b.getenv("GOOSE_PATH_ROOT"); root != "" {
		return []string{filepath.Join(root, "data")}
	}
	return append(
		b.dataDirs("goose"),
		filepath.Join(b.dirFromEnv("APPDATA", "AppData/Roaming"), "Block", "goose", "data"),
	)
}

func kimiRoots(b baseDirs) []string {
	return []string{b.dirFromEnv("KIMI_SHARE_DIR", ".kimi"), b.dirFromEnv("KIMI_CODE_HOME", ".kimi-code")}
}

func openclawRoots(b baseDirs) []string {
	home := cmp.Or(b.getenv("OPENCLAW_HOME"), b.userHome)
	return []string{cmp.Or(b.getenv("OPENCLAW_STATE_DIR"), filepath.Join(home, ".openclaw"))}
}

// crushRoots returns the directories that Crush lists in its file projects.json, one for each project
// (internal/projects in charmbracelet/crush).
func crushRoots(b baseDirs) (all []string) {
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
		_ = json.Unmarshal(readSmallFile(filepath.Join(dir, "projects.json")), &list) // the file may be missing
		for _, p := range list.Projects {
			if filepath.IsAbs(p.Dir) {
				all = append(all, p.Dir)
			}
		}
	}
	return all
}
