module dglop.invalid/cluster/pause

go 1.26.0
