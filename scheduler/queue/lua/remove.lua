-- Deletes the queue's keys, `meta` first. ARGV[3] '1': the events, too; ARGV[4] where the last call stopped, '' at first.
-- {'ok'} | {'more', where it stopped}. It ends where another builds the queue anew meanwhile.
local first = 0
if ARGV[4] == '' then
  redis.call('DEL', key('meta'), key('ready'), key('lease'), key('running'), key('fence'), key('done'))
  -- A stream alone can go on.
  local events = redis.pcall('XRANGE', key('events'), '-', '+', 'COUNT', 1)
  if ARGV[3] == '1' or events.err then redis.call('DEL', key('events')) end
else
  if redis.call('EXISTS', key('meta')) == 1 then return {'ok'} end
  first = whole(ARGV[4], 'the first segment')
end

local workers = redis.pcall('ZRANGE', key('workers'), 0, MOST - 1)
if workers.err then
  redis.call('DEL', key('workers'))
  workers = {}
end
for _, worker in ipairs(workers) do
  redis.call('DEL', key('worker:' .. worker))
  redis.call('ZREM', key('workers'), worker)
end
if #workers == MOST then return {'more', first} end

for number = first, first + MOST - 1 do
  if redis.call('DEL', seg(string.format('%d', number))) == 0 then return {'ok'} end
end
return {'more', first + MOST}
