-- Adds units whose files are in the store to a queue that is being built. ARGV[3] builder, then pairs: a unit, what is
-- kept of it. {'ok'} | {'lost'}
if not is_being_built(ARGV[3]) then return {'lost'} end
for i = 4, #ARGV - 1, 2 do keep_done(whole(ARGV[i], 'the unit'), ARGV[i + 1]) end
return {'ok'}
