// Package sharing implements the verbs that exchange entries with others, through the team files in
// a git repository and through servers.
package sharing
