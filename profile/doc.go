// The tour of the package.

// Package profile chooses what an agent knows while it does a job. A profile is
// a small YAML file that a person writes:
//
//	name: vtt-developer
//	description: "CR as VTT developer"
//	extends: [base-developer]           # one or several; all that they include is included
//	include:                            # an entry must fit every line, by any of its values
//	  projects: [homebrew-vtt]
//	  tags: [architecture, decision, feature]
//	  kinds: [note, journal]
//	  related_files: [pkg/vtt/spatial.go]
//	  date_range: [2026-04-18, 2026-05-01]   # both days are in; null leaves a side open
//	  entries: [house rules]            # by name, besides what the lines above choose; they rank first
//	exclude:                            # an entry that fits any line is out, whatever included it
//	  tags: [moltbook, book-writing]
//	always_include: [SOUL.md, MEMORY.md]     # what stands there when it is left out
//	max_tokens: 30000
//	process: true                       # the default
//	redact: [mail, phone, iban, card]   # or personal: what is not shown; [mail] stands in its place
//
// Entries with the label process:true are about how to work, not about one
// project: they belong to every profile but those that say process: false or
// exclude them. Entries with the label pinned:true rank first.
//
// A [Set] finds profiles in the home and in the project; [Set.Resolve] reads one
// with all that it extends. What a [Resolved] profile is used for:
//
//   - [Resolved.Scope] binds a memory to it, so that nothing else is seen;
//   - [Set.Select] makes the text that replaces the default injection, within the
//     budget, with an account of what got in, what was cut and why;
//   - [Set.Lint] finds what its writer did not mean.
package profile
