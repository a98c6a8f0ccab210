// This file builds the files with which package registries and desktop programs install and start oxbow's server.

package setup

// A Target is a platform for which a release contains a program.
type Target struct {
	OS, Arch string // values as in GOOS and GOARCH
}

// npmOS and npmArch map Go's names of operating systems and architectures to npm's names.
var (
	npmOS   = map[string]string{"windows": "win32", "darwin": "darwin", "linux": "linux"}
	npmArch = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// NPMPackage returns the name of the npm package that contains the program for the target.
func (t Target) NPMPackage() string { return programName + "-" + npmOS[t.OS] + "-" + npmArch[t.Arch] }

// Executable returns the file name that the program has on the target.
func (t Target) Executable() string {
	if t.OS == "windows" {
		return programName + ".exe"
	}
	return programName
}

// npmManifest returns the content of a file package.json. It consists of the fields that all oxbow npm packages have,
// followed by the fields in the argument extraFields.
func npmManifest(name, version string, extraFields ...field) string {
	return indentedJSON(append(fields{
		{"name", name}, {"version", version}, {"description", bundleTitle}, {"homepage", bundleHomepage},
		{"license", "Apache-2.0"},
		{"repository", fields{{"type", "git"}, {"url", "git+" + bundleHomepage + ".git"}}},
	}, extraFields...))
}

// NPMProgramManifest returns package.json of the npm package that contains the program for the target.
func (t Target) NPMProgramManifest(version string) string {
	return npmManifest(t.NPMPackage(), version,
		field{"os", []string{npmOS[t.OS]}}, field{"cpu", []string{npmArch[t.Arch]}})
}

// NPMLauncherFiles returns the files of the npm package that people install. This package contains no program. It lists
// one package for each target as an optional dependency, so that npm installs only the package with the program for the
// user's platform.
func NPMLauncherFiles(version string, targets []Target) map[string]string {
	var programs fields
	for _, t := range targets {
		programs = append(programs, field{t.NPMPackage(), version})
	}
	return map[string]string{
		"package.json": npmManifest(programName, version,
			field{"mcpName", mcpRegistryName}, field{"bin", fields{{programName, "oxbow.js"}}},
			field{"files", []string{"oxbow.js"}}, field{"optionalDependencies", programs}),
		"oxbow.js": npmLauncherSource,
	}
}

const npmLauncherSource = `#!/usr/bin/env node
// Starts the program of the package for this platform, which npm installed beside this one.
const { spawn } = require('node:child_process')
const path = require('node:path')

const name = 'oxbow-' + process.platform + '-' + process.arch
let program
try {
  const dir = path.dirname(require.resolve(name + '/package.json'))
  program = path.join(dir, process.platform === 'win32' ? 'oxbow.exe' : 'oxbow')
} catch {
  console.error('oxbow: the package ' + name + ' is not installed. npm leaves it out with --omit=optional, and there' +
    ' is none for some platforms.')
  process.exit(1)
}
const env = { ...process.env }
if (env.npm_command === 'exec') env.OXBOW_LAUNCHER = 'npx'
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', env })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (err) => {
  console.error('oxbow: ' + err.message)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
`

// BundleManifest returns the file manifest.json of the .mcpb bundle for the target. In the bundle, the program is in
// the directory "server".
func (t Target) BundleManifest(version string) string {
	entry := "server/" + t.Executable()
	o := Options{Executable: "${__dirname}/" + entry}
	argv := o.oxbowArgv("mcp")
	return indentedJSON(fields{
		{"manifest_version", "0.3"}, {"name", programName}, {"version", version}, {"description", bundleTitle},
		{"author", fields{{"name", bundleOwner}}}, {"homepage", bundleHomepage}, {"license", "Apache-2.0"},
		{"server", fields{
			{"type", "binary"}, {"entry_point", entry},
			{"mcp_config", fields{{"command", argv[0]}, {"args", argv[1:]}}},
		}},
		{"tools_generated", true},
		{"compatibility", fields{{"platforms", []string{npmOS[t.OS]}}}},
	})
}

// mcpRegistryName is the name of oxbow's server in the MCP registry.
const mcpRegistryName = "io.github.oxbow-memory/oxbow"

// A PublishedBundle is an .mcpb bundle that was published.
type PublishedBundle struct {
	URL, SHA256 string
}

// RegistryEntry returns server.json, which describes the server in the MCP registry.
func RegistryEntry(version string, bundles []PublishedBundle) string {
	stdio := field{"transport", fields{{"type", "stdio"}}}
	var arguments []fields
	o := Options{Executable: programName}
	for _, word := range o.oxbowArgv("mcp")[1:] {
		arguments = append(arguments, fields{{"type", "positional"}, {"value", word}})
	}
	packages := []fields{{
		{"registryType", "npm"}, {"identifier", programName}, {"version", version}, {"runtimeHint", "npx"},
		{"packageArguments", arguments}, stdio,
	}}
	for _, b := range bundles {
		packages = append(packages,
			fields{{"registryType", "mcpb"}, {"identifier", b.URL}, {"fileSha256", b.SHA256}, stdio})
	}
	return indentedJSON(fields{
		{"$schema", "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
		{"name", mcpRegistryName}, {"title", programName},
		{"description", "Memory for agents: notes, past sessions, and why lines are as they are."},
		{"version", version},
		{"repository", fields{{"url", bundleHomepage}, {"source", "github"}}},
		{"packages", packages},
	})
}
