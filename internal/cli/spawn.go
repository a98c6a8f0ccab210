// This file implements the command "oxbow spawn". It also configures sub-agents for the command line and for servers.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

func spawnCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "spawn AGENT_ID [TASK]",
		Short: "Start a sub-agent that sees only what a profile selects",
		Long: `Spawn prints the briefing of a sub-agent. It contains the entries that the
profile selects, a skill, the task (TASK, or standard input), and the command
of a memory server that is bound to the profile. If settings.yaml in your home
names a runner, spawn starts it with the briefing, shows its output, and
records the run as an entry. Without a runner, or with --briefing, spawn only
prints the briefing.

Spawn reads the runner from a home that --home, OXBOW_HOME or OXBOW_SETTINGS
names, or from your data directory. It never reads the runner from a home that
came with a project.`,
		Example: `  oxbow spawn vtt-refactor --profile vtt --skill senior-developer \
    "Refactor spatial.go for 3D coordinates."
  oxbow spawn author --profile vtt --as-of 2026-04-18 --briefing < question.md`,
		Args: requireArgCount(1, 2, "an AGENT_ID and a TASK"),
	}, func(ctx context.Context, in spawnIn, args []string) error {
		task, err := mem.env.readTask(args)
		if err != nil {
			return err
		}
		return mem.spawnSubAgent(ctx, profiles.SpawnSubAgentIn{AgentID: args[0], Task: task, SkillName: in.Skill,
			AsOfDateOrSeq: in.AsOf, Budget: in.MaxTokens, BriefingOnly: in.PrintsBriefing})
	})
}

// spawnIn contains the flags of oxbow spawn, except --profile.
type spawnIn struct {
	Skill          string `json:"skill,omitempty"      usage:"the SKILL that explains how to do the task"`
	AsOf           string `json:"as_of,omitempty"      usage:"select from the memory at this DATE, or after this change"  value:"DATE"`
	MaxTokens      *int   `json:"max_tokens,omitempty" usage:"at most N tokens of memory, instead of the profile's limit"              also:"token_budget,budget"`
	PrintsBriefing bool   `json:"briefing,omitempty"   usage:"print the briefing, and do not start the sub-agent"`
}

// readTask returns the text of the task. It is the second argument, or else is read from standard input.
func (env *environment) readTask(args []string) (string, error) {
	if len(args) == 2 && args[1] != "-" {
		return args[1], asUsageError(verb.CheckText("the task", args[1]))
	}
	if env.IsStdinTerminal && len(args) < 2 {
		return "", usageErrorf("for example: oxbow spawn reviewer \"Review the last commit.\"", "no task is given")
	}
	text, err := env.readStdin()
	if err != nil {
		return "", err
	}
	return text, asUsageError(verb.CheckText("the task", text))
}

func (mem *lazyMemory) spawnSubAgent(ctx context.Context, in profiles.SpawnSubAgentIn) (err error) {
	svc, err := mem.newSubAgentService()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if !mem.env.wantsJSON {
		svc.Stdout, svc.Stderr = mem.env.Stdout, mem.env.Stderr
	}
	if _, err := svc.LoadAgentRunner(); err != nil {
		return asUsageError(err)
	}
	w, done, err := mem.newWorkspace(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	out, err := profiles.SpawnSubAgent(ctx, w, svc, in)
	if err != nil {
		return asUsageError(err)
	}
	return printResult(mem, out, mem.env.showSpawnResult)
}

// showSpawnResult prints the briefing if no sub-agent was run. Otherwise it prints a summary of the sub-agent's run.
// The output of the sub-agent was already printed. Therefore showSpawnResult does not print the text of out.Report,
// which contains this output and is meant for models.
func (env *environment) showSpawnResult(out profiles.SpawnSubAgentOut) {
	if out.Run == nil {
		env.printText(out.Briefing)
	} else {
		isLineOpen := out.Run.Result != "" && !strings.HasSuffix(out.Run.Result, "\n")
		if isLineOpen && env.IsStdoutTerminal {
			env.printf("\n")
		}
		said := fmt.Sprintf("sub-agent %s: %s after %.1f s", out.AgentID, out.Run.HowRunEnded, out.Run.Seconds)
		if out.Run.ExitStatus > 0 {
			said += fmt.Sprintf(", exit status %d", out.Run.ExitStatus)
		}
		if out.Run.RunEntryName != "" {
			said += "; recorded as " + shellQuote(out.Run.RunEntryName)
		}
		if out.Run.HowRunEnded == subagent.StateDone {
			env.printNote("%s", replaceHarmfulChars(said))
		} else {
			env.printWarning("%s", replaceHarmfulChars(said))
		}
	}
	for _, n := range out.Notes {
		env.printNote("%s", replaceHarmfulChars(n.String()))
	}
}

// settingsFile returns the path of the settings file to use, or "" if there is none.
//
// If the variable $OXBOW_SETTINGS is set, it contains the path of the file, or [subagent.NoSettings] for no file. The
// path must be absolute. oxbow sets the variable when it starts a sub-agent, so that the sub-agent cannot use other
// settings by choosing another home on its command line.
//
// If the variable is not set, settingsFile uses the settings file in the home if this file is trusted, and otherwise
// the settings file in the user's data directory. If the file in the home exists and is not trusted, for example
// because it may have come with a project, ignoredFile is its path. Otherwise ignoredFile is "".
func (finder *homeFinder) settingsFile() (file, ignoredFile string, err error) {
	if f := finder.env.Getenv(subagent.EnvSettings); f != "" {
		if f == subagent.NoSettings {
			return "", "", nil
		}
		if !filepath.IsAbs(f) {
			return "", "", usageErrorf(
				"write the whole path, or none",
				"%s %q is not a whole path",
				subagent.EnvSettings,
				f,
			)
		}
		return f, "", nil
	}
	home, err := finder.homePath()
	if err != nil {
		return "", "", err
	}
	there := func(dir string) string {
		f := filepath.Join(dir, subagent.SettingsFile)
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return "" // The home is a store file, which cannot contain settings.
		}
		if _, err := os.Lstat(f); errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return f
	}
	f := there(home)
	if f != "" && finder.isSettingsFileTrusted(home, f) {
		return f, "", nil
	}
	ignoredFile = f
	if data, err := finder.env.dataHome(); err == nil {
		file = there(data)
	}
	return file, ignoredFile, nil
}

// isSettingsFileTrusted reports whether the settings file of a home may be used. The file specifies programs to start,
// so it must belong to the user. If the home itself may have come with a project (see isOwnHome), the user must also
// have trusted the file in its present state.
func (finder *homeFinder) isSettingsFileTrusted(home, file string) bool {
	if !ownership.AreSettingsTrusted(finder.host(), home, file) {
		return false
	}
	return finder.isOwnHome(home) || finder.host().TrustList.TrustsSettings(home, file)
}

// loadRunner returns the runner that starts sub-agents, as the settings file specifies. It returns nil if there is no
// settings file. If other users may write to the file, it returns an error, because the file names a program to run.
func (finder *homeFinder) loadRunner() (*subagent.Runner, error) {
	file, _, err := finder.settingsFile()
	if err != nil || file == "" {
		return nil, err
	}
	fi, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	switch {
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("reading the settings: %s is not a file", file)
	case finder.env.GOOS != "windows" && fi.Mode().Perm()&0o022 != 0:
		return nil, &hintedError{
			fmt.Errorf("reading the settings: others may write %s, and it names a program to run", file),
			"chmod go-w " + shellQuote(file),
		}
	case fi.Size() > subagent.MaxSettingsFileBytes:
		return nil, fmt.Errorf("reading the settings: %s has more than %d bytes", file, subagent.MaxSettingsFileBytes)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the settings: %w", err)
	}
	r, err := subagent.ParseRunner(file, b)
	if err != nil {
		err = &hintedError{err, "mend " + shellQuote(file) +
			"; with OXBOW_SETTINGS=none, the same command prints the briefing and starts nothing"}
	}
	return r, err
}

// subAgentDepth returns how deeply this run is nested in sub-agents. It is 0 if no sub-agent started the run.
func (env *environment) subAgentDepth() (int, error) {
	d := env.Getenv(subagent.EnvDepth)
	if d == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(d)
	if err != nil || n < 0 {
		return 0, usageErrorf("unset it", "%s %q is not a number of sub-agents", subagent.EnvDepth, d)
	}
	return n, nil
}

// newSubAgentService returns the service with which this run creates and starts sub-agents.
func (mem *lazyMemory) newSubAgentService() (*subagent.Service, error) {
	// Require a trusted home. A sub-agent is started with the home's path on its command line, and a home that is
	// named there is always trusted.
	home, err := mem.finder.trustedHome()
	if err != nil {
		return nil, err
	}
	l, err := mem.newLoader()
	if err != nil {
		return nil, err
	}
	wd, err := mem.env.absolutePath(".")
	if err != nil {
		return nil, err
	}
	file, ignored, err := mem.finder.settingsFile()
	if err != nil {
		return nil, err
	}
	if ignored != "" {
		mem.env.printWarning(
			"%s is not read: it may have come with the project, and it names a program to start; read it, then: "+
				"oxbow trust %s",
			ignored, shellQuote(home),
		)
	}
	depth, err := mem.env.subAgentDepth()
	if err != nil {
		return nil, err
	}
	svc := &subagent.Service{
		Profiles:           l.Profiles,
		Skills:             l.Skills,
		RestrictingProfile: l.RestrictingProfile,
		ProgramPath:        "oxbow",
		ProgramArgs:        []string{"--home", home},
		ProgramEnv: map[string]string{
			subagent.EnvHome:     home,
			subagent.EnvSettings: subagent.NoSettings,
		},
		SpawnDepth:      depth,
		LoadAgentRunner: mem.finder.loadRunner,
		WorkingDir:      wd,
		Environ:         mem.env.Environ,
		Now:             mem.env.Now,
	}
	if mem.env.Executable != "" {
		svc.ProgramPath = mem.env.Executable
	}
	if file != "" {
		svc.ProgramEnv[subagent.EnvSettings] = file
	}
	for _, f := range []struct{ flag, value, env string }{
		{"--dialect", mem.finder.dialectFlag, "OXBOW_DIALECT"},
		{"--agent", mem.agentFlag, ""},
	} {
		if f.value != "" {
			svc.ProgramArgs = append(svc.ProgramArgs, f.flag, f.value)
		} else if v := mem.env.Getenv(f.env); f.env != "" && v != "" {
			svc.ProgramEnv[f.env] = v
		}
	}
	if ok, err := mem.finder.host().IsNetworkFSAllowed(); err == nil && ok {
		svc.ProgramEnv["OXBOW_NETWORK_FS"] = "1"
	}
	return svc, nil
}
