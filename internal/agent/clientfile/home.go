// This file finds the directories in which clients store their files.

package clientfile

import (
	"cmp"
	"path/filepath"
)

// clientHome describes the directory of a client: the environment variable that may name a directory, the
// default in the user's home directory, and the path below either.
type clientHome struct{ variable, dir, below string }

// Home returns the directory in which a client stores its settings and transcripts. User is the user's
// home directory.
func Home(client, user string, getenv func(string) string) string {
	c, _ := FindEventClient(client)
	return filepath.Join(cmp.Or(getenv(c.home.variable), filepath.Join(user, c.home.dir)), c.home.below)
}
