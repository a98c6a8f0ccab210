// This file contains the documentation of package profile.

// Package profile selects the part of a memory that an agent sees while it works on a job. A profile is a small YAML
// file that a person writes:
//
//	name: vtt-developer
//	description: "CR as VTT developer"
//	extends: [base-developer]           # add everything that these profiles include
//	include:                            # entries must match every line, by one of its values
//	  projects: [homebrew-vtt]
//	  tags: [architecture, decision, feature]
//	  kinds: [note, journal]
//	  related_files: [pkg/vtt/spatial.go]
//	  date_range: [2026-04-18, 2026-05-01]   # both days included; null means no bound
//	  entries: [house rules]            # additional entries by name; they rank first
//	exclude:                            # entries that match any line are excluded
//	  tags: [moltbook, book-writing]
//	always_include: [SOUL.md, MEMORY.md]     # these are the default documents
//	max_tokens: 30000
//	process: true                       # the default
//	redact: [mail, iban, card]          # personal data to hide; the value "personal" means all kinds
//
// Entries with the label process:true describe how to work, independent of a project. Such entries belong to every
// profile, unless the profile excludes them or sets process: false. Entries with the label pinned:true rank first.
//
// A [Set] finds profiles in the home and in the project. [Set.Resolve] reads a profile together with all profiles that
// it extends. A [Resolved] profile is used in three ways:
//
//   - [Resolved.Scope] restricts a memory to the profile.
//   - [Set.Select] builds the text that replaces the default context, within the token budget, and reports what was
//     included, what was cut and why.
//   - [Set.Lint] finds probable mistakes in the profile.
package profile
