"""`depyf mcp`: a server for the Model Context Protocol, over stdio."""
