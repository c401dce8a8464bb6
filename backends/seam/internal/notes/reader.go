package notes

import "memdesk/backends/seam/internal/rootdir"

// reader opens files one after the other.
type reader = rootdir.Files
