"""A session of a real editor: Neovim shows what was found, applies a fix, and refuses one for an older text."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pygls")
NEOVIM = shutil.which("nvim")
pytestmark = pytest.mark.skipif(NEOVIM is None, reason="Neovim (nvim) is not installed")

CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * len("é😀") * x.max().item()  # é
    return y
"""
# What a user's own set-up does: start the server, and take the first action that is offered under the cursor.
SESSION = """\
local given = vim.fn.json_decode(vim.fn.readfile(GIVEN))
local told = {}
local function wait(what, done)
  if not vim.wait(120000, done, 10) then told.missing = told.missing or what end
end
local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") end
local function found() return vim.diagnostic.get(0) end

vim.cmd("edit " .. vim.fn.fnameescape(given.file))
local client = vim.lsp.start_client({cmd = {given.python, "-m", "pt2lint", "server"}, root_dir = given.folder})
vim.lsp.buf_attach_client(0, client)
wait("diagnostics", function() return #found() > 0 end)
told.found = found()

vim.ui.select = function(items, _, chosen)
  told.offered = vim.tbl_map(function(item) return item[2].title end, items)
  chosen(items[1], 1)
end
local before = text()
vim.api.nvim_win_set_cursor(0, {told.found[1].lnum + 1, told.found[1].col})
vim.lsp.buf.code_action()
wait("a fix", function() return text() ~= before end)
told.fixed = text()
wait("what is found then", function() return #found() == 0 end)

vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(before, "\\n"))
wait("diagnostics once more", function() return #found() > 0 end)
local params = vim.lsp.util.make_range_params()
params.context = {diagnostics = {}}
local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 120000)
local action = answer[client].result[1]
vim.api.nvim_buf_set_lines(0, 0, 0, false, {"# typed meanwhile"})
vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
told.late = text()
told.before = before
vim.fn.writefile({vim.fn.json_encode(told)}, given.out)
vim.cmd("qall!")
"""


def test_a_session_of_neovim(tmp_path: Path, installed: str) -> None:
    folder = tmp_path / "with space, é"
    folder.mkdir()
    file, copy = folder / "my módule.py", tmp_path / "m.py"
    file.write_text(CODE, encoding="utf-8")
    copy.write_text(CODE, encoding="utf-8")
    given, script, out = tmp_path / "given.json", tmp_path / "session.lua", tmp_path / "out.json"
    said = {"file": str(file), "python": installed, "folder": str(folder), "out": str(out)}
    given.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    script.write_text(SESSION.replace("GIVEN", json.dumps(str(given), ensure_ascii=False)), encoding="utf-8")
    done = subprocess.run(
        [NEOVIM or "", "--headless", "--clean", "-n", "-S", str(script), "-c", "qall!"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert out.is_file(), done.stderr
    told = json.loads(out.read_text(encoding="utf-8"))
    assert "missing" not in told, (told, done.stderr)

    [found] = told["found"]
    assert (found["code"], found["source"], found["lnum"]) == ("PTB103", "pt2lint", 5)
    start = len(CODE.splitlines()[5].partition("x.max()")[0].encode())  # Neovim counts in bytes
    assert (found["col"], found["end_col"]) == (start, start + len("x.max().item()"))
    assert told["offered"][0].startswith("PTB103: Keep the value as a tensor")

    assert told["before"] == CODE.rstrip()
    subprocess.run([installed, "-m", "pt2lint", "--fix", "--unsafe-fixes", "m.py"], cwd=tmp_path, check=True)
    assert told["fixed"] + "\n" == copy.read_text(encoding="utf-8")
    assert told["fixed"] != told["before"]
    assert told["late"] == "# typed meanwhile\n" + told["before"], "an edit of an older text was applied"
